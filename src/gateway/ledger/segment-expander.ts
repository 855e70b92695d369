import type { Services } from '#actors/capability/services.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { pause, timeOfId } from '#runtime/index.ts'
import { idFloor, Rounds } from '#runtime/internal.ts'
import { callSegments, type SegmentData, segmentPrefix, segmentScope } from './kinds.ts'
import { placesIn, projected, rowsOf } from './segment-rows.ts'

/** Interval in ms at which segments are processed. */
const everyMs = 1_000
/** Minimum age in ms of a segment that this process wrote before it is processed. */
const ownersTurnMs = 500
/** Age in ms from which a segment is processed by any process, because its own has ended or is overloaded. */
const orphanMs = 15_000
/** Number of calls whose rows are written at once: few by a busy process, whose calls wait for them meanwhile. */
const atOnce = { busy: 8, quiet: 20 } as const
/** A process counts as busy when it recorded a call within this time, in ms. */
const quietMs = 250
/**
 * Share of its time that a busy process spends on segments: small while few are waiting, rising with the square of
 * their number to a half, so that a burst of calls is served first.
 */
const minShare = 0.01
const maxShare = 0.5
const segmentsForAll = 6_000
const longestRestMs = 500

export interface ExpanderParts extends Pick<Services, 'clock' | 'log' | 'records'> {
  /** Time of the newest call, in ms since the epoch. */
  readonly lastCallAt: () => number
}

/**
 * Derives usage rows and entries of the request log from segments, when the process has time: because of its indexes, a
 * row costs ten times as much as its call in a segment. The work is idempotent: repeated after a crash, or by two
 * processes at once, it results in the same rows.
 */
export class SegmentExpander {
  readonly #parts: ExpanderParts
  readonly #table: Table<SegmentData>
  /** Ids of segments that this process wrote, oldest first. */
  readonly #own = new Set<string>()
  readonly #rounds: Rounds
  /** Number of segments whose rows are written but which are not deleted yet. */
  #expanded = 0

  constructor(parts: ExpanderParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
    this.#table = new Table(parts.records, callSegments, parts.clock.now)
  }

  /** Starts processing segments, beginning with those that a crash left. */
  start(): void {
    this.#rounds.start()
  }

  /** Notes a segment that this process wrote. */
  wrote({ id }: Pick<Row<SegmentData>, 'id'>): void {
    this.#own.add(id)
  }

  /** Stops after the rows in progress; the rest is found again later. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /**
   * Processes segments that are old enough, pausing while the process is busy. Never rejects: after a failure, the next
   * round continues.
   */
  async round(): Promise<void> {
    try {
      const now = this.#parts.clock.now()
      await this.#expandOld(now)
      for (const id of this.#own) {
        if (this.#rounds.stopped || id > idFloor(segmentPrefix, now - ownersTurnMs)) break
        const segment = await this.#table.get(segmentScope, id)
        if (segment !== null) await this.#expand(segment, true)
        this.#own.delete(id)
      }
      await this.#clear()
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'calls not made rows, trying again')
    }
  }

  /** Derives the rows of all segments that exist now, of any process, without pauses. @throws {StoreUnavailable} */
  async all(): Promise<void> {
    const [newest] = await this.#table.list(segmentScope, { limit: 1 })
    const end = idFloor(segmentPrefix, Math.max(this.#parts.clock.now(), timeOfId(newest?.id ?? '') ?? 0) + 1)
    for await (const segment of this.#segments(end)) {
      await this.#expand(segment, false)
      this.#own.delete(segment.id)
    }
    await this.#clear()
  }

  /**
   * Deletes segments whose rows are written. It does not wait for the disk, since repeating the work gives the same
   * rows.
   */
  async #clear(): Promise<void> {
    if (this.#expanded === 0) return
    this.#expanded = 0
    await this.#parts.records.sweep(callSegments, this.#parts.clock.now())
  }

  async #expandOld(now: number): Promise<void> {
    for await (const segment of this.#segments(idFloor(segmentPrefix, now - orphanMs))) {
      if (this.#rounds.stopped) return
      await this.#expand(segment, true)
      this.#own.delete(segment.id)
    }
  }

  /** Iterates over the segments up to `end`, oldest first, with one in memory at a time. */
  async *#segments(end: string): AsyncGenerator<Row<SegmentData>> {
    for (let after = ''; ; ) {
      const [segment] = await this.#table.list(segmentScope, { ascending: true, after, limit: 1 })
      if (segment === undefined || segment.id >= end) return
      yield segment
      after = segment.id
    }
  }

  async #expand(segment: Row<SegmentData>, gently: boolean): Promise<void> {
    const { records } = this.#parts
    for (let from = 0, to = 0; from < segment.data.calls.length; from = to) {
      const began = performance.now()
      to = from + atOnce[gently && this.#isBusy() ? 'busy' : 'quiet']
      await records.project(placesIn(segment, from, to).map(rowsOf).flatMap(projected))
      if (gently && this.#isBusy()) await this.#rest(performance.now() - began)
    }
    this.#expanded++
    await records.project([{ kind: callSegments, record: { ...segment, version: 2, expires_at: 1, data: {} } }])
  }

  #isBusy(): boolean {
    return this.#parts.clock.now() - this.#parts.lastCallAt() <= quietMs
  }

  #rest(workedMs: number): Promise<void> {
    const share = Math.min(maxShare, Math.max(minShare, (this.#own.size / segmentsForAll) ** 2))
    return pause(this.#parts.clock, Math.ceil(Math.min(longestRestMs, (workedMs * (1 - share)) / share)))
  }
}
