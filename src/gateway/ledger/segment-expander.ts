import type { Logger } from 'pino'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type Clock, pause } from '#runtime/clock.ts'
import { idFloor, timeOfId } from '#runtime/ids.ts'
import { Rounds } from '#runtime/rounds.ts'
import type { RecordStore } from '#storage/ports.ts'
import { callSegments, type SegmentData, segmentPrefix, segmentScope } from './kinds.ts'
import { placesIn, projected, rowsOf } from './segment-rows.ts'

/** How often segments are looked for, in ms. */
const everyMs = 1_000
/** A younger segment is left to the process that wrote it, and to the next round. */
const ownersTurnMs = 500
/** Older ones are any process's: their process is gone, or has too much to do. */
const orphanMs = 15_000
/** Calls that are made rows at once. */
const atOnce = 50
/** A process is busy that took a call so short a time ago, in ms. */
const quietMs = 250
/** What a busy process gives of its time: little while few segments wait, and half of it before there are so many; by the square, so that a rush is over first. */
const leastShare = 0.01
const mostShare = 0.5
const segmentsForAll = 6_000
const longestRestMs = 500

export interface ExpanderParts {
  readonly records: RecordStore
  readonly clock: Clock
  readonly log: Logger
  /** When the newest call was taken, in ms since the epoch. */
  readonly lastCallAt: () => number
}

/**
 * Makes usage rows and lines of the request log of the calls in segments, when the process has time: a row costs ten times
 * what its call in a segment did, for the indexes that it is found by. Done again after a crash it comes to the same rows,
 * and of two processes that do it at once neither harms the other.
 */
export class SegmentExpander {
  readonly #parts: ExpanderParts
  readonly #table: Table<SegmentData>
  /** Ids of segments that this process wrote, oldest first. */
  readonly #own = new Set<string>()
  readonly #rounds: Rounds
  /** Segments whose rows were made, and which are still there. */
  #expanded = 0

  constructor(parts: ExpanderParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
    this.#table = new Table(parts.records, callSegments, parts.clock.now)
  }

  /** Looks for segments from now on, those that a crash left first. */
  start(): void {
    this.#rounds.start()
  }

  /** This process wrote a segment. */
  wrote({ id }: Pick<Row<SegmentData>, 'id'>): void {
    this.#own.add(id)
  }

  /** Ends after the rows that are under way; the rest is found again. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** What is old enough, as gently as need be. Never rejects: trouble is left to the next round. */
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

  /** Makes rows of every segment that there is now, of any process, without a rest. @throws {StoreUnavailable} */
  async all(): Promise<void> {
    const [newest] = await this.#table.list(segmentScope, { limit: 1 })
    const end = idFloor(segmentPrefix, Math.max(this.#parts.clock.now(), timeOfId(newest?.id ?? '') ?? 0) + 1)
    for await (const segment of this.#segments(end)) {
      await this.#expand(segment, false)
      this.#own.delete(segment.id)
    }
    await this.#clear()
  }

  /** Gives the room of segments back whose rows are made. It does not wait for a disk: done again it comes to the same. */
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

  /** Oldest first, up to `end`; one in memory at a time. */
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
    for (let from = 0; from < segment.data.calls.length; from += atOnce) {
      const began = performance.now()
      await records.project(
        placesIn(segment, from, from + atOnce)
          .map(rowsOf)
          .flatMap(projected),
      )
      if (gently) await this.#rest(performance.now() - began)
    }
    this.#expanded++
    await records.project([{ kind: callSegments, record: { ...segment, version: 2, expires_at: 1, data: {} } }])
  }

  async #rest(workedMs: number): Promise<void> {
    const { clock, lastCallAt } = this.#parts
    if (clock.now() - lastCallAt() > quietMs) return
    const share = Math.min(mostShare, Math.max(leastShare, (this.#own.size / segmentsForAll) ** 2))
    await pause(clock, Math.min(longestRestMs, (workedMs * (1 - share)) / share))
  }
}
