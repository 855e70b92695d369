import type { BlobStore, Commit, Json } from '#storage/ports.ts'
import { isObject } from '../schema.ts'
import { actorBlobs, contentHashOf } from './blob-owner.ts'

/** A blob to which no snapshot after the commit `seq` refers. */
export interface UnusedBlob {
  readonly seq: number
  readonly project: string
  readonly name: string
}

const prefixOf = (commit: Pick<Commit, 'tenant' | 'actor'>): string => `${actorBlobs(commit)}s.`

/**
 * The blobs of one actor's snapshots. Only snapshots refer to them, those of the commit that stored them and of commits
 * after it, so that they are removed with the last of these snapshots.
 *
 * A name has the epoch and the nonce of the commit that stored it: it is never used again after its removal, nor by two
 * processes or by another actor of the same id, so that a removal which arrives late removes nothing else.
 */
export class SnapshotBlobs {
  /** Names of stored blobs by content hash, of this and earlier snapshots. */
  readonly #names = new Map<string, string>()
  #used: ReadonlySet<string> = new Set()
  #unused: UnusedBlob[] = []

  /** @param snapshot the newest one, as stored. */
  constructor(snapshot: Json = {}) {
    this.use(namesIn(snapshot))
  }

  /** Whether the newest snapshot has such blobs. */
  get areUsed(): boolean {
    return this.#used.size > 0
  }

  /** Returns what names the blobs of a commit's snapshot, by content hash. */
  namesFor(commit: Commit): (hash: string) => string {
    const prefix = `${prefixOf(commit)}${commit.epoch}.${commit.nonce}.`
    return (hash) => this.#names.get(hash) ?? prefix + hash
  }

  /** Whether the blob is stored: a long field of a context is in every snapshot, and is sent to the store once. */
  has(name: string): boolean {
    return this.#names.get(contentHashOf(name)) === name
  }

  /** Notes the blobs, which are stored, of a snapshot that is about to be. */
  use(names: readonly string[]): void {
    this.#used = new Set(names)
    for (const name of names) this.#names.set(contentHashOf(name), name)
  }

  /** Notes that the commit is durable for whose snapshot `use` was called: other blobs are of earlier ones. */
  stored(commit: Pick<Commit, 'tenant' | 'actor' | 'project' | 'seq'>): void {
    if (this.#names.size === this.#used.size) return
    for (const [hash, name] of this.#names) {
      if (this.#used.has(name)) continue
      this.#names.delete(hash)
      if (name.startsWith(prefixOf(commit))) this.#drop(commit, name)
    }
  }

  /** Notes blobs of lower epochs to which the newest commit does not refer: their processes did not remove them. */
  async sweep(blobs: BlobStore, commit: Commit): Promise<void> {
    const prefix = prefixOf(commit)
    // the last name before those of the prefix, in the order of every store
    const names = await blobs.hashes(commit.project, `${prefix.slice(0, -1)}-`, maxSwept)
    for (const name of names) {
      const epoch = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('.')[0]) : commit.epoch
      if (epoch < commit.epoch && !this.#used.has(name)) this.#drop(commit, name)
    }
  }

  /** Takes the blobs that are not needed once the snapshots up to the commit `seq` are removed. */
  takeUnused(seq: number): readonly UnusedBlob[] {
    if (this.#unused.length === 0) return this.#unused
    const taken = this.#unused.filter((blob) => blob.seq <= seq)
    this.#unused = this.#unused.filter((blob) => blob.seq > seq)
    return taken
  }

  #drop({ seq, project }: Pick<Commit, 'seq' | 'project'>, name: string): void {
    this.#unused.push({ seq: seq - 1, project, name })
  }
}

/** Number of names that a takeover reads; what is left is found by the next one. */
const maxSwept = 32

/** Names of the blobs to which a document refers (blob-fields.ts). */
const namesIn = (value: Json | undefined): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  if (!isObject(value) || !('$blob' in value)) return Object.values(value).flatMap(namesIn)
  const { $blob: name, value: wrapped } = value
  if (typeof name === 'string') return [name]
  return isObject(wrapped) ? Object.values(wrapped).flatMap(namesIn) : []
}
