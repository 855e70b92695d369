import { type RecordKind, type RecordStore, type StoredRecord, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause, within } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { Overloaded } from '../overloaded.ts'

/** Batching window in ms: consecutive turns of an actor within it result in one write of its row. */
const gatherMs = 200

/** Maximum number of rows of one write: a store takes them in one statement, and SQLite blocks the process meanwhile. */
const maxRows = 1_000

/** How long a request waits for rows while the store accepts writes, in ms; and how long while it does not. */
const patienceMs = 20_000
const failingPatienceMs = 800

/**
 * A row that failed alone this often, each time just after the store had accepted others, is refused: a driver reports
 * some rows as if the store were away. A store that fails one call in three at random does this once in 500,000 rows.
 */
const maxStrikes = 12

/** A row to write. `record` is called only when the row is written, so a row that is replaced before costs nothing. */
export interface Row {
  readonly id: string
  /** The actor whose commit it follows from. */
  readonly actor: string
  readonly kind: RecordKind
  readonly record: () => StoredRecord
  /** Called once the row is written. */
  readonly written?: () => void
}

/**
 * Is notified of rows that the store refuses permanently, and of refused rows that were accepted or discarded later.
 */
export interface RowListener {
  readonly refused: (row: Row, error: unknown) => void
  readonly taken: (row: Row) => void
}

/**
 * Called before rows of a kind are written; the write waits for it, and is tried again later if it rejects. The function
 * that it returns is called after the write, with whether it succeeded.
 */
export type RowWatcher = (records: readonly StoredRecord[]) => Promise<(isWritten: boolean) => void>

/** Dependencies of `RowWriter`. */
export interface RowWriterParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly log: Logger
  readonly elsewhere?: () => Promise<void> | undefined | undefined
  readonly creations?: () => Promise<void> | undefined
}

/**
 * Writes list rows asynchronously after the commits: only the newest version of each, many in one batch.
 *
 * A commit stays `open` until its row is written, so a crash leaves no row permanently stale. A reader of rows on this
 * host awaits `shown` first, so a list shows everything that was acknowledged (specs/decisions/0004-projections.md).
 */
export class RowWriter {
  readonly #records: RecordStore
  readonly #clock: Clock
  readonly #log: Logger
  readonly #elsewhere: () => Promise<void> | undefined
  readonly #creations: () => Promise<void> | undefined
  readonly #alongside: (() => Promise<void>)[] = []
  #waiting = new Map<string, Row>()
  #inBatch = new Map<string, Row>()
  #writing: Promise<void> | undefined
  /** The flush that will write rows queued now; shared by all who await it. */
  #next: Promise<void> | undefined
  /** The rows that the next flush writes, by id; all that are queued when it has to. */
  #urgent = new Set<string>()
  #wantsAll = false
  #cancel: (() => void) | undefined
  /** Whether the last write failed because the store was unavailable. */
  #failing = false
  /** Rows that the store refuses permanently, by id: they hold up no others, and their commits stay open. */
  readonly #refused = new Map<string, Row>()
  /** Ids of rows that were refused and have not been written since. */
  readonly #suspects = new Set<string>()
  readonly #watchers = new Map<string, RowWatcher>()
  #listener: RowListener = { refused: () => {}, taken: () => {} }

  /**
   * @param elsewhere resolves when other processes have written their rows, or after a timeout; undefined when there
   *   are none.
   * @param creations resolves when the actors that durable commits request have been created; undefined when there are
   *   none.
   */
  constructor({ records, clock, log, elsewhere = () => undefined, creations = () => undefined }: RowWriterParts) {
    this.#records = records
    this.#clock = clock
    this.#log = log
    this.#elsewhere = elsewhere
    this.#creations = creations
  }

  /** Number of rows that are not written, without refused ones, which wait for an operator. */
  get size(): number {
    return this.#waiting.size + this.#inBatch.size
  }

  /** Sets the listener for rows that the store refuses. */
  listen(listener: RowListener): void {
    this.#listener = listener
  }

  /** Sets the watcher of the rows of a kind. */
  watch(kind: RecordKind, watcher: RowWatcher): void {
    this.#watchers.set(kind.name, watcher)
  }

  /** Retries a row that the store refused; returns false when there is none of this id. */
  retry(id: string): boolean {
    const row = this.#refused.get(id)
    if (row !== undefined) this.put(row)
    return row !== undefined
  }

  /** Discards a row that the store refused: its commit may be closed without it. */
  discard(id: string): void {
    const row = this.#refused.get(id)
    this.#refused.delete(id)
    if (row !== undefined) this.#written(row)
  }

  /** Queues a row; a newer row of the same id replaces one that is still queued. */
  put(row: Row): void {
    this.#refused.delete(row.id)
    this.#waiting.set(row.id, row)
    this.#plan()
  }

  #plan(): void {
    this.#cancel ??= this.#clock.after(gatherMs, () => void this.#settledRows())
  }

  /** Queues a row that never changes, and resolves when it is written. */
  write(actor: string, kind: RecordKind, record: StoredRecord): Promise<void> {
    const { id } = record
    const before = this.#waiting.get(id)?.written
    return new Promise((resolve) => {
      const written = (): void => {
        before?.()
        resolve()
      }
      this.put({ id, actor, kind, record: () => record, written })
    })
  }

  /** Registers other asynchronous writes, which `settled` then awaits too, for this host or another one. */
  alongside(settled: () => Promise<void>): void {
    this.#alongside.push(settled)
  }

  /** Writes at once, and resolves when every row queued so far is written. */
  settled(): Promise<void> {
    const rows = this.#settledRows()
    if (this.#alongside.length === 0) return rows
    return Promise.all([rows, ...this.#alongside.map((settled) => settled())]).then(() => {})
  }

  #settledRows(): Promise<void> {
    this.#stopTimer()
    if (this.#waiting.size === 0) return this.#writing ?? Promise.resolve()
    this.#wantsAll = true
    this.#next ??= this.#flush()
    return this.#next
  }

  #stopTimer(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** `settled`, including the rows of actors whose ids a stream of this process may have shown already. */
  shownHere(): Promise<void> {
    return this.#creations()?.then(() => this.settled()) ?? this.settled()
  }

  /** `shownHere` and the same in other processes, for a request. @throws {Overloaded} {StoreUnavailable} when that takes longer than a request waits. */
  shown(): Promise<void> {
    const others = this.#elsewhere()
    if (others === undefined) return this.#awaited(this.shownHere())
    return this.#awaited(Promise.all([this.shownHere(), others]).then(() => {}))
  }

  async #awaited(settled: Promise<void>): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += failingPatienceMs) {
      try {
        return await within(this.#clock, failingPatienceMs, settled)
      } catch (error) {
        if (this.#failing || !(error instanceof StoreUnavailable)) throw error
        if (waitedMs >= patienceMs) throw new Overloaded('rows are not written in time', { cause: error })
      }
    }
  }

  /** Whether a row of this actor is unwritten. */
  waits(id: string): boolean {
    return this.#waiting.has(id) || this.#inBatch.has(id) || this.#refused.has(id)
  }

  /** Writes the queued rows at once, because a caller waits for one of them. */
  hurry(): void {
    void this.#settledRows()
  }

  /** Resolves when no row of this actor is pending: the newest is written, at once, or the store refuses it. */
  async writtenOf(id: string): Promise<void> {
    while (this.#waiting.has(id) || this.#inBatch.has(id)) {
      if (this.#waiting.has(id)) {
        this.#urgent.add(id)
        this.#next ??= this.#flush()
      }
      await (this.#next ?? this.#writing)
    }
  }

  /** `writtenOf`, for a request. @throws {Overloaded} {StoreUnavailable} when that takes longer than a request waits. */
  shownOf(id: string): Promise<void> {
    return this.#awaited(this.writtenOf(id))
  }

  /** Writes one batch at a time; rows queued meanwhile go into the next one. */
  async #flush(): Promise<void> {
    do await this.#writing
    while (this.#writing !== undefined)
    // reached only in a later turn than the call, which has assigned this promise to `next`
    this.#next = undefined
    this.#inBatch = this.#taken()
    if (this.#inBatch.size === 0) return
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  /** Takes the rows that are urgent, or all of them: the others wait for those of their actors that come soon. */
  #taken(): Map<string, Row> {
    const [urgent, all] = [this.#urgent, this.#waiting]
    this.#urgent = new Set()
    if (this.#wantsAll) {
      this.#wantsAll = false
      this.#waiting = new Map()
      return all
    }
    const taken = new Map<string, Row>()
    for (const id of urgent) {
      const row = all.get(id)
      if (row !== undefined) taken.set(id, row)
      all.delete(id)
    }
    return taken
  }

  /**
   * Writes the rows in calls that are halved after a failure, and doubled after a success, so that a refused row costs
   * the others little. The rows of a failed call come last: one that always fails holds up no others.
   */
  async #write(): Promise<void> {
    const strikes = new Map<Row, number>()
    let size = maxRows
    let failures = 0
    let isAccepting = false
    while (this.#inBatch.size > 0) {
      if (failures > 0) await pause(this.#clock, backoffMs(failures - 1, 50, 2000))
      if (failures > 0 && size === 1) this.#takeNewer()
      const call = firstOf(this.#inBatch.values(), size)
      const error = await this.#project(call, failures)
      this.#failing = error instanceof StoreUnavailable
      if (error === null) for (const row of call) this.#written(row)
      else if (call.length > 1) this.#putLast(call)
      else for (const row of call) this.#failedAlone(row, error, isAccepting ? strikes : null)
      size = error === null ? Math.min(size * 2, maxRows) : Math.ceil(call.length / 2)
      failures = this.#failing ? failures + 1 : 0
      isAccepting = error === null
    }
  }

  /** Resolves with the error of the store; null if it accepted the rows. */
  async #project(rows: readonly Row[], attempt: number): Promise<unknown> {
    const projected = rows.map(({ kind, record }) => ({ kind, record: record() }))
    const watching: ((isWritten: boolean) => void)[] = []
    try {
      for (const [kind, watch] of this.#watchers) {
        const some = projected.filter((row) => row.kind.name === kind).map(({ record }) => record)
        if (some.length > 0) watching.push(await watch(some))
      }
      await this.#records.project(projected)
      for (const after of watching) after(true)
      return null
    } catch (error) {
      for (const after of watching) after(false)
      this.#log.warn({ rows: rows.length, attempt, err: error }, 'rows not written, trying again')
      return error
    }
  }

  /** Refuses a row that the store refuses, or that fails however often the store accepts others in between. */
  #failedAlone(row: Row, error: unknown, strikes: Map<Row, number> | null): void {
    const count = (strikes?.get(row) ?? 0) + 1
    strikes?.set(row, count)
    if (this.#failing && count < maxStrikes) this.#putLast([row])
    else this.#refuse(row, error)
  }

  #putLast(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#inBatch.delete(row.id)
      this.#inBatch.set(row.id, row)
    }
  }

  /** Puts the rows that were queued meanwhile first: they show whether the store or one row is at fault. */
  #takeNewer(): void {
    const newer = [...this.#waiting].filter(([id]) => !this.#inBatch.has(id))
    for (const [id] of newer) this.#waiting.delete(id)
    this.#inBatch = new Map([...newer, ...this.#inBatch])
  }

  #written(row: Row): void {
    this.#inBatch.delete(row.id)
    if (this.#suspects.delete(row.id)) this.#listener.taken(row)
    row.written?.()
  }

  #refuse(row: Row, error: unknown): void {
    this.#inBatch.delete(row.id)
    this.#log.error({ actorId: row.actor, kind: row.kind.name, row: row.id, err: error }, 'row refused')
    // a newer version of the row is queued, and may be accepted
    if (!this.#waiting.has(row.id)) this.#refused.set(row.id, row)
    this.#suspects.add(row.id)
    this.#listener.refused(row, error)
  }
}

const firstOf = (rows: Iterable<Row>, count: number): readonly Row[] => {
  const first: Row[] = []
  for (const row of rows) if (first.push(row) === count) break
  return first
}
