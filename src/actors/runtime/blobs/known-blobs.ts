import type { BlobStore } from '#storage/ports.ts'

/** Number of blob names remembered; the oldest is dropped first. */
const maxKnown = 10_000

/**
 * Stores each blob once: a long field of an actor's context is in every snapshot, and would otherwise be sent to the
 * store with each commit. No name is used again after its blob was removed.
 */
export class KnownBlobs implements Pick<BlobStore, 'put'> {
  readonly #blobs: Pick<BlobStore, 'put'>
  readonly #known = new Map<string, Promise<void>>()

  constructor(blobs: Pick<BlobStore, 'put'>) {
    this.#blobs = blobs
  }

  /** Resolves when the blob is durable. @throws {StoreUnavailable} and the next call stores it again */
  put(project: string, hash: string, content: string): Promise<void> {
    const key = `${project}/${hash}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const storing = this.#blobs.put(project, hash, content)
    this.#known.set(key, storing)
    storing.catch(() => this.#known.delete(key))
    const [first] = this.#known.size > maxKnown ? this.#known.keys() : []
    if (first !== undefined) this.#known.delete(first)
    return storing
  }
}
