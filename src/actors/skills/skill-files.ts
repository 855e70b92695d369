import { createHash } from 'node:crypto'
import type { BlobStore } from '#storage/index.ts'
import type { StoredFile } from './kinds.ts'
import type { ArchivedFile } from './scanner/skill-archive.ts'

/** Name of the main file of a skill. */
export const skillFile = 'SKILL.md'

/** A stored file with its content. */
export interface ReadFile extends StoredFile {
  readonly content: string
}

/** Files of skills, stored as blobs by the hash of their content, so that versions share unchanged files. */
export class SkillFiles {
  readonly #blobs: BlobStore

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Stores the files; they are durable once it resolves. */
  async keep(project: string, files: readonly ArchivedFile[]): Promise<readonly StoredFile[]> {
    return Promise.all(files.map((file) => this.#kept(project, file)))
  }

  /** Returns a file; null when it no longer exists. */
  async read(project: string, file: StoredFile): Promise<ReadFile | null> {
    const content = await this.#blobs.get(project, blobOf(file))
    return content === null ? null : { ...file, content }
  }

  async #kept(project: string, { path, base64 }: ArchivedFile): Promise<StoredFile> {
    const bytes = Buffer.from(base64, 'base64')
    const text = bytes.toString('utf8')
    const isText = !text.includes('\0') && Buffer.from(text, 'utf8').equals(bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const file = { path, bytes: bytes.length, sha256, encoding: isText ? 'utf8' : 'base64' } as const
    await this.#blobs.put(project, blobOf(file), isText ? text : base64)
    return file
  }
}

/** Returns the name of a blob. It includes the encoding, since the same bytes may be stored as text or in base64. */
const blobOf = ({ sha256, encoding }: StoredFile): string => `skill.${encoding}.${sha256}`
