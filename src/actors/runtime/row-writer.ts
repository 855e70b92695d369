import type { Logger } from 'pino'
import { type RecordKind, type RecordStore, type StoredRecord, StoreUnavailable } from '../../storage/ports.ts'
import { backoffMs, type Clock, pause, within } from './clock.ts'

/** How long rows gather before they are written, in ms: a turn's two commits are one row then. */
const gatherMs = 50

/** How long a request waits for rows, in ms; and how long while the store does not take any. */
const patienceMs = 2000
const failingPatienceMs = 800

/** A row to write. `record` is called when the row is written, so that a row which is replaced first costs nothing. */
export interface Row {
  readonly id: string
  readonly kind: RecordKind
  readonly record: () => StoredRecord
  /** Called once it is written. */
  readonly written?: () => void
}

/**
 * Writes list rows behind the commits, newest version of each, many in one batch.
 *
 * A commit stays `open` until its row is written, so a crash leaves no row behind for good; whoever reads rows on
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

  /** @param elsewhere resolves when other processes have written theirs, or after a moment; undefined when there are none. */
  constructor(
    records: RecordStore,
    clock: Clock,
    log: Logger,
    elsewhere: () => Promise<void> | undefined = () => undefined,
  ) {
    this.#records = records
    this.#clock = clock
    this.#log = log
    this.#elsewhere = elsewhere
  }

  /** Takes a row; a newer one of the same id replaces one that still waits. */
  put(row: Row): void {
    this.#waiting.set(row.id, row)
    this.#cancel ??= this.#clock.after(gatherMs, () => void this.#flush())
  }

  /** Takes a row that never changes, and resolves when it is written. */
  write(kind: RecordKind, record: StoredRecord): Promise<void> {
    const { id } = record
    const before = this.#waiting.get(id)?.written
    return new Promise((resolve) => {
      const written = (): void => {
        before?.()
        resolve()
      }
      this.put({ id, kind, record: () => record, written })
    })
  }

  /** What else is written behind answers: it is settled with the rows, on this host and when another asks. */
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

  /** `settled`, for a request. @throws {StoreUnavailable} when that takes longer than a request waits. */
  shown(): Promise<void> {
    const others = this.#elsewhere()
    if (others === undefined) return this.#awaited(this.settled())
    return this.#awaited(Promise.all([this.settled(), others]).then(() => {}))
  }

  async #awaited(settled: Promise<void>): Promise<void> {
    try {
      await within(this.#clock, failingPatienceMs, settled)
    } catch (error) {
      if (this.#failing || !(error instanceof StoreUnavailable)) throw error
      await within(this.#clock, patienceMs - failingPatienceMs, settled)
    }
  }

  /** Whether a row of this actor still waits. */
  waits(id: string): boolean {
    return this.#waiting.has(id) || this.#inBatch.has(id)
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
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#records.project(rows.map(({ kind, record }) => ({ kind, record: record() })))
        this.#failing = false
        for (const { written } of rows) written?.()
        return
      } catch (error) {
        this.#failing = true
        this.#log.warn({ rows: rows.length, attempt, err: error }, 'rows not written, trying again')
        await pause(this.#clock, backoffMs(attempt, 50, 2000))
      }
    }
  }
}
