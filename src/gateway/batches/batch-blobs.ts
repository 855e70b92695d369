import { createHash } from 'node:crypto'
import { actorBlobs } from '#runtime/internal.ts'
import { inShares } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore } from '#storage/index.ts'

/** The batch that blobs belong to. */
export interface BatchOwner {
  readonly project: string
  readonly tenant: string | null
  readonly batch: string
}

const pageSize = 200

/** What a batch keeps while it is run: its requests in groups, and the outcome of each line that has ended. */
export class BatchBlobs {
  readonly #blobs: BlobStore

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** Stores the requests whose first line is `first`. @throws {StoreUnavailable} */
  putRequests(owner: BatchOwner, first: number, text: string): Promise<void> {
    return this.#put(owner, `in${padded(first)}`, text)
  }

  /** Returns the requests whose first line is `first`; null when there are none. @throws {StoreUnavailable} */
  requests(owner: BatchOwner, first: number): Promise<string | null> {
    return this.#first(owner, `in${padded(first)}`)
  }

  /** Stores the outcome of a line. @throws {StoreUnavailable} */
  putOutcome(owner: BatchOwner, line: number, text: string): Promise<void> {
    return this.#put(owner, `out${padded(line)}`, text)
  }

  /** Returns the outcome of a line; null when it has none. @throws {StoreUnavailable} */
  outcome(owner: BatchOwner, line: number): Promise<string | null> {
    return this.#first(owner, `out${padded(line)}`)
  }

  /** Yields the outcomes in order of their lines, in shares of the loop. @throws {StoreUnavailable} */
  outcomes(owner: BatchOwner): AsyncGenerator<readonly [line: number, text: string]> {
    return inShares(this.#outcomes(owner))
  }

  async *#outcomes(owner: BatchOwner): AsyncGenerator<readonly [line: number, text: string]> {
    const prefix = `${prefixOf(owner)}out`
    // the names of a store's blobs may end in `:0`, and a colon sorts after digits and before letters
    for (let after = prefix.slice(0, -1); ; ) {
      const names = await this.#blobs.hashes(owner.project, after, pageSize)
      for (const name of names) {
        if (!name.startsWith(prefix)) return
        const text = await this.#blobs.get(owner.project, name)
        if (text !== null) yield [Number(name.slice(prefix.length, prefix.length + digits)), text]
      }
      after = names.at(-1) ?? ''
      if (names.length < pageSize) return
    }
  }

  /** Removes all of it, once the files with the results are stored. @throws {StoreUnavailable} */
  async clear(owner: BatchOwner): Promise<void> {
    for (const kind of ['in', 'out']) await this.#blobs.remove(owner.project, `${prefixOf(owner)}${kind}`)
  }

  async #put(owner: BatchOwner, name: string, text: string): Promise<void> {
    const hash = createHash('sha256').update(text).digest('hex')
    await this.#blobs.put(owner.project, `${prefixOf(owner)}${name}.${hash}`, text)
  }

  async #first(owner: BatchOwner, name: string): Promise<string | null> {
    const prefix = `${prefixOf(owner)}${name}.`
    // `-` sorts before the `.` of the prefix, whatever the hash after it begins with
    const [found] = await this.#blobs.hashes(owner.project, `${prefixOf(owner)}${name}-`, 1)
    return found?.startsWith(prefix) === true ? this.#blobs.get(owner.project, found) : null
  }
}

const digits = 6

const padded = (line: number): string => String(line).padStart(digits, '0')

const prefixOf = ({ tenant, batch }: BatchOwner): string => actorBlobs({ tenant, actor: batch })
