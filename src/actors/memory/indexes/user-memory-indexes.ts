import type { ErasedOwner } from '#actors/capability/erased-copies.ts'
import { Table } from '#records/table.ts'
import { IndexBound, Pause } from '#retrieval/index.ts'
import type { RecordStore } from '#storage/index.ts'
import type { EmbeddedProjects } from '../embedding/embedded-projects.ts'
import { type MemoryData, memories, type PendingWrite } from '../kinds.ts'
import { type MemoryOwner, ownerKey, ownersScope } from '../memory-owner.ts'
import type { ChangesSince, MemoryChanges } from './memory-changes.ts'
import { UserMemoryIndex } from './user-memory-index.ts'

export interface ScopeIndexesParts {
  readonly records: RecordStore
  readonly now: () => number
  /** Absent for a store that only one process can use. */
  readonly changes?: MemoryChanges | undefined
  /** Returns the id of the embedder whose vectors a project's indexes hold. */
  readonly embedderOf: (project: string) => Promise<string | null>
  readonly projects: Pick<EmbeddedProjects, 'note'>
  /** Carries out a write that another process decided but did not carry out. */
  readonly recover: (owner: MemoryOwner, pending: PendingWrite) => Promise<void>
  /** Called with memories that, when read, have no vector from the project's embedder. */
  readonly unembedded: (owner: MemoryOwner, ids: readonly string[]) => void
  /** Absent: a bound of their own. */
  readonly bound?: IndexBound | undefined
}

class Kept {
  readonly index: UserMemoryIndex
  readonly owner: MemoryOwner
  /** Time at which it was read from the store, in ms since the epoch. */
  readonly readAt: number
  readonly evict: () => void

  constructor({ index, owner, readAt, evict }: Omit<Kept, 'bytes'>) {
    this.index = index
    this.owner = owner
    this.readAt = readAt
    this.evict = evict
  }

  get bytes(): number {
    return this.index.bytes
  }
}

const pageSize = 500

/** Age in ms after which an index is read again, to find writes that a crashed process did not announce. */
const rereadAfterMs = 10 * 60_000

/** Number of changes of an index of which the waste is kept: numbers of words that no memory has any more. */
const minWaste = 1_000

/** Age in ms of a decided write from which its process is taken to have died; it stops carrying it out before that. */
export const abandonedMs = 5_000

/** Cache of the indexes of active users, read from the store at first use. An index has all memories of its user. */
export class UserMemoryIndexes {
  readonly #parts: ScopeIndexesParts
  readonly #bound: IndexBound
  readonly #table: Table<MemoryData>
  readonly #kept = new Map<string, Kept>()
  readonly #reading = new Map<string, Promise<Kept>>()

  constructor(parts: ScopeIndexesParts) {
    this.#parts = parts
    this.#bound = parts.bound ?? new IndexBound()
    this.#table = new Table(parts.records, memories, parts.now)
  }

  /**
   * Returns the up-to-date index, including every write that other nodes have acknowledged.
   *
   * @throws {StoreUnavailable}
   */
  async open(owner: MemoryOwner): Promise<UserMemoryIndex> {
    const key = cacheKey(owner)
    const embedder = await this.#parts.embedderOf(owner.project)
    let kept = this.#kept.get(key)
    if (kept !== undefined && kept.index.embedder !== embedder) kept = undefined
    if (kept === undefined || this.#isOld(kept)) kept = await this.#read(key, owner, embedder)
    this.#keep(key, kept)
    kept.index.dropExpired(this.#parts.now())
    return this.#synced(key, kept)
  }

  /** Returns the index if it is in memory. */
  known(owner: MemoryOwner): UserMemoryIndex | undefined {
    return this.#kept.get(cacheKey(owner))?.index
  }

  /**
   * Announces a write to other nodes and applies it to the local index. The rows must be stored already.
   *
   * @throws {StoreUnavailable}
   */
  async wrote(
    owner: MemoryOwner,
    ids: readonly string[],
    apply: (index: UserMemoryIndex) => void | Promise<void>,
  ): Promise<void> {
    await this.announced(owner, await this.#parts.changes?.note(owner, ids), apply)
  }

  /** Applies a write that has been announced to the local index. */
  async announced(
    owner: MemoryOwner,
    version: number | undefined,
    apply: (index: UserMemoryIndex) => void | Promise<void>,
  ): Promise<void> {
    await this.#reading.get(cacheKey(owner))
    const kept = this.#kept.get(cacheKey(owner))
    if (kept === undefined) return
    const { index } = kept
    await apply(index)
    if (version !== undefined && index.seen === version - 1) index.seen = version
    if (this.#kept.get(cacheKey(owner)) === kept) this.#bound.used(kept)
  }

  /** Drops a user's index from the cache. */
  drop(owner: MemoryOwner): void {
    this.#drop(cacheKey(owner))
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (kept !== undefined) this.#bound.gone(kept)
    this.#kept.delete(key)
  }

  #keep(key: string, kept: Kept): void {
    if (this.#kept.get(key) !== kept) this.#drop(key)
    this.#kept.set(key, kept)
    this.#bound.used(kept)
  }

  /** Drops the indexes of users whose memories were erased from the store. */
  dropErased({ project, tenant, user }: ErasedOwner): void {
    for (const [key, { owner }] of this.#kept) {
      const isOf = (tenant === null || owner.tenant === tenant) && (user === null || owner.user === user)
      if (owner.project === project && isOf) this.#drop(key)
    }
  }

  #isOld({ readAt }: Kept): boolean {
    return this.#parts.changes !== undefined && this.#parts.now() - readAt > rereadAfterMs
  }

  #read(key: string, owner: MemoryOwner, embedder: string | null): Promise<Kept> {
    const known = this.#reading.get(key)
    if (known !== undefined) return known
    const noted = this.#parts.projects.note(owner.project)
    const reading = noted.then(() => this.#readAll(owner, embedder)).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  async #readAll(owner: MemoryOwner, embedder: string | null): Promise<Kept> {
    const known = this.known(owner)
    // what it has of a row that has not changed is not analysed again, until it has more waste than rows
    const isKept = known?.embedder === embedder && known.revision <= 4 * known.size + minWaste
    const index = isKept ? known : new UserMemoryIndex(embedder)
    const readAt = this.#parts.now()
    const version = (await this.#parts.changes?.since(owner, 0))?.version ?? 0
    const gone = new Map(Array.from(index.entries(), ({ id, version }) => [id, version]))
    index.forgetRemoved()
    const unembedded: string[] = []
    const pause = new Pause()
    for (let after = ''; ; ) {
      const rows = await this.#table.list(ownersScope(owner), {
        where: { owner: ownerKey(owner) },
        ...{ limit: pageSize, ascending: true, after },
      })
      for (const row of rows) {
        // a backup was restored
        if (row.version < (gone.get(row.id) ?? 0)) {
          this.drop(owner)
          return this.#readAll(owner, embedder)
        }
        gone.delete(row.id)
        index.put(row)
        if (embedder !== null && row.data.embedder !== embedder) unembedded.push(row.id)
        if (pause.due()) await pause.turn()
      }
      after = rows.at(-1)?.id ?? ''
      if (rows.length < pageSize) break
    }
    for (const id of gone.keys()) index.remove(id)
    // not before: searches that do not wait for this would not read these changes. It may be lower, when versions began anew
    index.seen = version
    const key = cacheKey(owner)
    const kept = new Kept({ index, owner, readAt, evict: () => this.#kept.delete(key) })
    this.#keep(key, kept)
    if (unembedded.length > 0) this.#parts.unembedded(owner, unembedded)
    return kept
  }

  async #synced(key: string, { index, owner }: Kept): Promise<UserMemoryIndex> {
    const missed = await this.#settled(owner, index.seen)
    if (missed === null) return index
    if (missed.ids === null) return (await this.#read(key, owner, index.embedder)).index
    for (const id of missed.ids) {
      const row = await this.#table.get(ownersScope(owner), id)
      if (row === null) index.remove(id)
      else index.put(row)
    }
    index.seen = Math.max(index.seen, missed.version)
    return index
  }

  /** Returns the changes after `seen`; a write whose process seems to have died is carried out first. */
  async #settled(owner: MemoryOwner, seen: number): Promise<ChangesSince | null> {
    const { changes, now, recover } = this.#parts
    const missed = (await changes?.since(owner, seen)) ?? null
    if (missed?.pending === undefined || missed.pending === null) return missed
    if (now() - missed.pending.at_ms < abandonedMs) return missed
    await recover(owner, missed.pending)
    return (await changes?.since(owner, seen)) ?? null
  }
}

const cacheKey = (owner: MemoryOwner): string => `${owner.project} ${ownerKey(owner)}`
