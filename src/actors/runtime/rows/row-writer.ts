import type { Logger } from 'pino'
import { type RecordKind, type RecordStore, type StoredRecord, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause, within } from '../clock.ts'
import { Overloaded } from '../overloaded.ts'

/** How long rows gather before they are written, in ms: a few turns that follow one another are one row then. */
const gatherMs = 200

/** How long a request waits for rows while the store takes them, in ms; and how long while it does not take any. */
const patienceMs = 20_000
const failingPatienceMs = 800

/** A row to write. `record` is called when the row is written, so that a row which is replaced first costs nothing. */
export interface Row {
  readonly id: string
  /** The actor whose commit it follows from. */
  readonly actor: string
  readonly kind: RecordKind
  readonly record: () => StoredRecord
  /** Called once it is written. */
  readonly written?: () => void
}

/** Hears of rows that the store refuses for good, and of those that were taken, or given up, after all. */
export interface RowListener {
  readonly refused: (row: Row, error: unknown) => void
  readonly taken: (row: Row) => void
}

/** Where rows go, and how those of other processes are waited for. */
export interface RowWriterParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly log: Logger
  readonly elsewhere?: () => Promise<void> | undefined | undefined
}

/**
 * Writes list rows behind the commits, newest version of each, many in one batch.
 *
 * A commit stays `open` until its row is written, so a crash leaves no row behind for good; a process that reads rows on
 * this host awaits `shown` first, so a list shows all that was acknowledged (specs/decisions/0004-projections.md).
 */
export class RowWriter {
  readonly #records: RecordStore
  readonly #clock: Clock
  readonly #log: Logger
  readonly #elsewhere: () => Promise<void> | undefined
  readonly #alongside: (() => Promise<void>)[] = []
  #waiting = new Map<string, Row>()
  #inBatch = new Map<string, Row>()
  #writing: Promise<void> | undefined
  /** Writes what waits now; shared by all who wait for it. */
  #next: Promise<void> | undefined
  #cancel: (() => void) | undefined
  /** The last write failed. */
  #failing = false
  /** Rows that the store refuses for good, by id: they hold up no other, and their commits stay open. */
  readonly #refused = new Map<string, Row>()
  /** Ids of rows that were refused before, and whose newest is not written yet. */
  readonly #suspects = new Set<string>()
  #listener: RowListener = { refused: () => {}, taken: () => {} }

  /** @param elsewhere resolves when other processes have written theirs, or after a moment; undefined when there are none. */
  constructor({ records, clock, log, elsewhere = () => undefined }: RowWriterParts) {
    this.#records = records
    this.#clock = clock
    this.#log = log
    this.#elsewhere = elsewhere
  }

  /** Rows that are not written. */
  get size(): number {
    return this.#waiting.size + this.#inBatch.size + this.#refused.size
  }

  /** Sets who hears of rows that the store refuses. */
  listen(listener: RowListener): void {
    this.#listener = listener
  }

  /** Writes a row again that the store refused; false when there is none of this id. */
  retry(id: string): boolean {
    const row = this.#refused.get(id)
    if (row !== undefined) this.put(row)
    return row !== undefined
  }

  /** Gives a row up that the store refused: its commit may be closed without it. */
  discard(id: string): void {
    const row = this.#refused.get(id)
    this.#refused.delete(id)
    if (row !== undefined) this.#written(row)
  }

  /** Takes a row; a newer one of the same id replaces one that still waits. */
  put(row: Row): void {
    this.#refused.delete(row.id)
    this.#waiting.set(row.id, row)
    this.#cancel ??= this.#clock.after(gatherMs, () => void this.#flush())
  }

  /** Takes a row that never changes, and resolves when it is written. */
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

  /** What else is written behind answers: it is settled with the rows, on this host and when another requests it. */
  alongside(settled: () => Promise<void>): void {
    this.#alongside.push(settled)
  }

  /** Writes at once, and resolves when every row taken so far is written. */
  settled(): Promise<void> {
    const rows = this.#settledRows()
    if (this.#alongside.length === 0) return rows
    return Promise.all([rows, ...this.#alongside.map((settled) => settled())]).then(() => {})
  }

  #settledRows(): Promise<void> {
    if (this.#waiting.size === 0) return this.#writing ?? Promise.resolve()
    this.#next ??= this.#flush()
    return this.#next
  }

  /** `settled`, for a request. @throws {Overloaded} {StoreUnavailable} when that takes longer than a request waits. */
  shown(): Promise<void> {
    const others = this.#elsewhere()
    if (others === undefined) return this.#awaited(this.settled())
    return this.#awaited(Promise.all([this.settled(), others]).then(() => {}))
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

  /** Whether a row of this actor still waits. */
  waits(id: string): boolean {
    return this.#waiting.has(id) || this.#inBatch.has(id) || this.#refused.has(id)
  }

  /** Writes what waits without gathering more: someone waits for a row of it. */
  hurry(): void {
    void this.#settledRows()
  }

  /** Resolves when no row of this actor is to be written: the newest is, or the store refuses it. */
  async writtenOf(id: string): Promise<void> {
    while (this.#waiting.has(id) || this.#inBatch.has(id)) await this.#settledRows()
  }

  /** One batch at a time; what comes while one is under way goes into the next. */
  async #flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    do await this.#writing
    while (this.#writing !== undefined)
    // never in the same turn as the call, whose promise `next` is
    this.#next = undefined
    if (this.#waiting.size === 0) return
    this.#inBatch = this.#waiting
    this.#waiting = new Map()
    this.#writing = this.#write([...this.#inBatch.values()]).finally(() => {
      this.#inBatch = new Map()
      this.#writing = undefined
    })
    await this.#writing
  }

  async #write(rows: readonly Row[]): Promise<void> {
    let left = rows
    for (let attempt = 0; left.length > 0; attempt++) {
      if (attempt > 0) await pause(this.#clock, backoffMs(attempt - 1, 50, 2000))
      left = await this.#attempt(left, attempt)
    }
  }

  /** Resolves with the rows that are to be written again. */
  async #attempt(rows: readonly Row[], attempt: number): Promise<readonly Row[]> {
    try {
      await this.#records.project(rows.map(({ kind, record }) => ({ kind, record: record() })))
      this.#failing = false
      for (const row of rows) this.#written(row)
      return []
    } catch (error) {
      const isPassing = error instanceof StoreUnavailable
      this.#failing = isPassing
      this.#log.warn({ rows: rows.length, attempt, err: error }, 'rows not written, trying again')
      return isPassing ? rows : this.#oneByOne(rows)
    }
  }

  /** The store refuses one of them, which the others are not to wait for. */
  async #oneByOne(rows: readonly Row[]): Promise<readonly Row[]> {
    const left: Row[] = []
    const alone = async (row: Row): Promise<void> => {
      try {
        await this.#records.project([{ kind: row.kind, record: row.record() }])
        this.#written(row)
      } catch (error) {
        if (error instanceof StoreUnavailable) left.push(row)
        else this.#refuse(row, error)
      }
    }
    await Promise.all(rows.map(alone))
    return left
  }

  #written(row: Row): void {
    if (this.#suspects.delete(row.id)) this.#listener.taken(row)
    row.written?.()
  }

  #refuse(row: Row, error: unknown): void {
    this.#log.error({ actorId: row.actor, kind: row.kind.name, row: row.id, err: error }, 'row refused')
    // a newer one of the same row may be taken
    if (!this.#waiting.has(row.id)) this.#refused.set(row.id, row)
    this.#suspects.add(row.id)
    this.#listener.refused(row, error)
  }
}
