import type { LogEvent } from '#storage/ports.ts'
import { charsOf } from './log-page.ts'

/** Number of events kept in memory, so that streams and folds of a live actor read no store. */
export const maxInTail = 12
/** UTF-16 units of events kept in memory. */
const maxChars = 64 * 1024

/** The newest events of one log, without gaps. */
export class LogTail {
  readonly #max: number
  #events: LogEvent[] = []
  #chars = 0

  /** @param max number of events; `maxInTail` for an actor of this process. */
  constructor(max = maxInTail) {
    this.#max = max
  }

  /** Adds events, and drops the oldest beyond the limits. On a gap, the events before it are dropped. */
  remember(events: readonly LogEvent[]): void {
    for (const event of events) {
      const last = this.#events.at(-1)?.sequence
      if (last !== undefined && event.sequence <= last) continue
      if (last !== undefined && event.sequence > last + 1) this.forget()
      this.#events.push(event)
      this.#chars += charsOf(event)
    }
    while (this.#events.length > this.#max || this.#chars > maxChars) {
      const oldest = this.#events.shift()
      if (oldest === undefined) return
      this.#chars -= charsOf(oldest)
    }
  }

  /** Returns every event after `after` up to `last` if memory has them all; undefined when the store has to be read. */
  after(after: number, last: number): readonly LogEvent[] | undefined {
    if (after >= last) return []
    const first = this.#events[0]
    if (first === undefined || (first.follows ?? first.sequence - 1) > after) return undefined
    if (this.#events.at(-1)?.sequence !== last) return undefined
    return this.#events.slice(Math.max(0, after + 1 - first.sequence))
  }

  /** Drops all events, which can be read again. */
  forget(): void {
    this.#events = []
    this.#chars = 0
  }
}
