import { randomUUID } from 'node:crypto'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type Clock, pause } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject, RecordStore } from '#storage/index.ts'
import type { MemoryChanges } from '../indexes/memory-changes.ts'
import { type EndedMemory, endedBy } from '../indexes/settled-facts.ts'
import { abandonedMs } from '../indexes/user-memory-indexes.ts'
import { type MemoryData, memories, type PendingWrite } from '../kinds.ts'
import { type MemoryOwner, ownersScope } from '../memory-owner.ts'
import { rowsOfWrite } from './schema.ts'

/** What a write stores, and what it ends. */
export interface DecidedWrite {
  readonly rows: readonly Row<MemoryData>[]
  readonly ended: ReadonlyMap<string, EndedMemory>
}

/** Result of carrying out a write. */
export interface CarriedOut {
  /** The rows as they are stored now. */
  readonly rows: readonly Row<MemoryData>[]
  /** Version of its announcement; absent in a single process. */
  readonly version?: number
}

export interface DecidedWritesParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly now: () => number
  /** Absent for a store that only one process can use. */
  readonly changes?: MemoryChanges | undefined
}

/**
 * Carries out decided writes. Where several processes can use the store, a write is first a message in the row of its user's
 * memory, and is then carried out: what it stores and what it supersedes happens as a whole, also when its process dies
 * meanwhile.
 */
export class DecidedWrites {
  readonly #parts: DecidedWritesParts
  readonly #table: Table<MemoryData>

  constructor(parts: DecidedWritesParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, memories, parts.now)
  }

  /**
   * Carries out a write.
   *
   * @param seen the version of the user's memory on which the decision is based.
   * @returns null when another write came first, so that it must be decided anew. @throws {StoreUnavailable}
   */
  async carryOut(owner: MemoryOwner, seen: number, write: DecidedWrite): Promise<CarriedOut | null> {
    const { changes } = this.#parts
    if (changes === undefined) return { rows: await this.#apply(owner, write) }
    const pending = this.#pendingOf(write)
    if (!(await changes.claim(owner, seen, pending))) return null
    return this.#finish(owner, pending, write)
  }

  /** Carries out the write of a process that seems to have died. @throws {StoreUnavailable} */
  async recover(owner: MemoryOwner, pending: PendingWrite): Promise<void> {
    const next = { ...pending, token: randomUUID(), at_ms: this.#parts.now() }
    const taken = await this.#parts.changes?.takeOver(owner, pending.token, next)
    if (taken === undefined || taken === null) return
    const ended = new Map(taken.ends.map(({ id, ...end }) => [id, end]))
    await this.#finish(owner, taken, { rows: rowsOfWrite(taken.rows), ended })
  }

  async #finish(owner: MemoryOwner, { token, at_ms }: PendingWrite, write: DecidedWrite): Promise<CarriedOut> {
    const rows = await this.#apply(owner, write, at_ms + abandonedMs / 2)
    const ids = rows.map(({ id }) => id)
    const version = await this.#parts.changes?.carriedOut(owner, token, ids)
    return { rows, ...(version !== undefined && { version }) }
  }

  /** Waits before a decision is made anew: in all its tries for longer than until the write of a dead process is taken over. */
  again(tries: number): Promise<void> {
    return pause(this.#parts.clock, Math.min(50, 2 ** tries) * (0.5 + Math.random()))
  }

  #pendingOf({ rows, ended }: DecidedWrite): PendingWrite {
    return {
      ...{ token: randomUUID(), at_ms: this.#parts.now() },
      rows: rows.map((row): JsonObject => ({ ...row, outbox: [] })),
      ends: [...ended].map(([id, end]) => ({ id, ...end })),
    }
  }

  /**
   * Stores the new memories and ends the older ones, in one transaction of an embedded store.
   *
   * @param until time after which another process may carry it out; then this one stops.
   */
  async #apply(
    owner: MemoryOwner,
    { rows, ended }: DecidedWrite,
    until = Number.POSITIVE_INFINITY,
  ): Promise<readonly Row<MemoryData>[]> {
    const { records, now } = this.#parts
    const scope = ownersScope(owner)
    const known = await this.#table.getMany(scope, [...ended.keys()])
    if (now() > until) throw new ServiceError('store_unavailable', { retryAfterS: 1 })
    const ends = [...ended].flatMap(([id, end]) => {
      const row = known.get(id)
      return row === undefined ? [] : [{ row, end }]
    })
    const [, ...changed] = await Promise.all([
      rows.length === 0 ? null : records.insertMany(memories, rows),
      ...ends.map(({ row, end }) => this.#end(owner, row, end)),
    ])
    return [...rows, ...changed.flatMap((row) => row ?? [])]
  }

  async #end(owner: MemoryOwner, row: Row<MemoryData>, end: EndedMemory): Promise<Row<MemoryData> | null> {
    const ended = await this.#table.replace(row, endedBy(row.data, end))
    if (ended !== null) return ended
    // it was changed meanwhile, for example because its vector was stored
    return this.#table.change(ownersScope(owner), row.id, { edit: ({ data }) => endedBy(data, end) })
  }
}
