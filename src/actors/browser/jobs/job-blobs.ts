import { createHash } from 'node:crypto'
import { actorBlobs } from '#runtime/blobs/blob-owner.ts'
import type { BlobStore } from '#storage/ports.ts'

/** Whose blobs they are. */
export interface JobOwner {
  readonly project: string
  readonly tenant: string | null
  readonly job: string
}

/** Characters of one blob: four bytes each at most, below what a store takes. */
const partLength = 1_000_000

/** Pictures and results of jobs, in the blob store under the job's own prefix: they go with the job and its tenant. */
export class JobBlobs {
  readonly #blobs: BlobStore

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Stores text in parts. @returns their names in order. @throws {StoreUnavailable} */
  async put(owner: JobOwner, text: string): Promise<readonly string[]> {
    const names: string[] = []
    for (let start = 0; start < text.length; start += partLength) {
      const part = JSON.stringify(text.slice(start, start + partLength))
      const name = `${actorBlobs({ tenant: owner.tenant, actor: owner.job })}${sha256(part)}`
      await this.#blobs.put(owner.project, name, part)
      names.push(name)
    }
    return names
  }

  /** The text; null when a part is gone. @throws {StoreUnavailable} */
  async get({ project }: Pick<JobOwner, 'project'>, names: readonly string[]): Promise<string | null> {
    const parts: string[] = []
    for (const name of names) {
      const part = await this.#blobs.get(project, name)
      if (part === null) return null
      parts.push(String(JSON.parse(part)))
    }
    return parts.join('')
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
