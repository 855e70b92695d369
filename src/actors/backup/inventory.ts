import { createHash, type Hash } from 'node:crypto'
import type { Commit, StoredRecord } from '#storage/index.ts'
import type { Item } from './schema.ts'
import type { SealedFields } from './sealed-fields.ts'

/** The number of items of one type, and a SHA-256 over all of them in order. */
type Digested = { readonly count: number; readonly digest: string }

/** Counts and digests of a project's items. Two stores with the same inventory hold the same project. */
export type InventoryData = {
  readonly actors: number
  readonly blobs: Digested
  readonly commits: Digested
  /** By kind; records that expire are not included. */
  readonly records: { readonly [kind: string]: Digested }
}

/**
 * Computes the inventory of a project from its items, which must be added in the order of `itemsOf`.
 * Anything that may differ between two stores with the same project is left out: the current owner of an actor (epoch,
 * shard), housekeeping (`open`, `due`, outboxes, snapshots of all but the newest commits), sealed values, the
 * organisation, and records that expire.
 */
export class Inventory {
  readonly #blobs = new Tally()
  readonly #commits = new Tally()
  readonly #records = new Map<string, Tally>()
  #actors = 0
  #newest: Commit | undefined
  readonly #sealed: SealedFields

  constructor(sealed: SealedFields) {
    this.#sealed = sealed
  }

  add(item: Item): void {
    if (item.type === 'blob' || item.type === 'bytes') this.#blobs.add(`${item.hash} ${sha256(item.content)}`)
    if (item.type === 'commit') this.#addCommit(item.commit)
    if (item.type === 'record') this.#addRecord(item.kind, item.record)
  }

  /** Returns the inventory; call it once, after the last item. */
  taken(): InventoryData {
    this.#endActor()
    return {
      actors: this.#actors,
      blobs: this.#blobs.taken(),
      commits: this.#commits.taken(),
      records: Object.fromEntries([...this.#records].map(([kind, tally]) => [kind, tally.taken()])),
    }
  }

  #addCommit(commit: Commit): void {
    if (commit.actor !== this.#newest?.actor) {
      this.#endActor()
      this.#actors++
    }
    this.#newest = commit
    const { snapshot: _, epoch: _epoch, shard: _shard, open: _open, due: _due, ...kept } = commit
    this.#commits.add(sorted(kept))
  }

  #endActor(): void {
    this.#commits.also(JSON.stringify(this.#newest?.snapshot ?? null))
  }

  #addRecord(kind: string, record: StoredRecord): void {
    if (record.expires_at !== null) return
    const tally = this.#records.get(kind) ?? new Tally()
    this.#records.set(kind, tally)
    const { outbox: _delivered, ...kept } = this.#sealed.unsealed(kind, record)
    tally.add(sorted(kept))
  }
}

/** Describes how two inventories differ; empty when they are equal. `but` names kinds that are not compared. */
export const differences = (a: InventoryData, b: InventoryData, but: readonly string[] = []): readonly string[] => {
  const kinds = [...new Set([...Object.keys(a.records), ...Object.keys(b.records)])].filter(
    (kind) => !but.includes(kind),
  )
  const pairs: readonly (readonly [string, Digested | undefined, Digested | undefined])[] = [
    ['blobs', a.blobs, b.blobs],
    ['commits', a.commits, b.commits],
    ...kinds.map((kind) => [kind, a.records[kind], b.records[kind]] as const),
  ]
  return pairs
    .filter(([, one, other]) => one?.digest !== other?.digest)
    .map(([name, one, other]) => `${name} (${one?.count ?? 0} against ${other?.count ?? 0})`)
}

class Tally {
  readonly #hash: Hash = createHash('sha256')
  #count = 0

  add(text: string): void {
    this.#count++
    this.also(text)
  }

  also(text: string): void {
    this.#hash.update(text).update('\n')
  }

  taken(): Digested {
    return { count: this.#count, digest: this.#hash.digest('hex') }
  }
}

const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex')

/** JSON with sorted top-level fields, so that it is the same whichever store or file the value comes from. */
const sorted = (value: object): string => JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
