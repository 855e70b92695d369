import { createHash } from 'node:crypto'
import { actorBlobs } from '#runtime/internal.ts'
import type { BlobStore } from '#storage/index.ts'

/** The job that blobs belong to. */
export interface JobOwner {
  readonly project: string
  readonly tenant: string | null
  readonly job: string
}

/** Maximum number of characters in one blob: at up to four bytes each, this is below the size limit of the stores. */
const partLength = 1_000_000

/** Pictures and results of jobs, stored as blobs under the prefix of their job, and deleted with it or its tenant. */
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

  /** Returns the text; null when a part no longer exists. @throws {StoreUnavailable} */
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
