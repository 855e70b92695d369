import type { LogEvent } from '#storage/ports.ts'
import { charsOf } from './log-page.ts'

/** Events kept in memory behind the newest, so that streams and folds of a live actor read no store. */
const mostEvents = 12
const mostChars = 64 * 1024

/** The newest events of one log, without a hole. */
export class LogTail {
  #events: LogEvent[] = []
  #chars = 0

  /** Keeps the newest events. What follows on a hole is kept without what was before it. */
  remember(events: readonly LogEvent[]): void {
    for (const event of events) {
      const last = this.#events.at(-1)?.sequence
      if (last !== undefined && event.sequence <= last) continue
      if (last !== undefined && event.sequence > last + 1) this.forget()
      this.#events.push(event)
      this.#chars += charsOf(event)
    }
    while (this.#events.length > mostEvents || this.#chars > mostChars) {
      const oldest = this.#events.shift()
      if (oldest === undefined) return
      this.#chars -= charsOf(oldest)
    }
  }

  /** Every event after `after` of a log that ends with `last`, when memory has them all; undefined when the store has to be read. */
  after(after: number, last: number): readonly LogEvent[] | undefined {
    if (after >= last) return []
    const first = this.#events[0]
    if (first === undefined || first.sequence > after + 1 || this.#events.at(-1)?.sequence !== last) return undefined
    return this.#events.slice(after + 1 - first.sequence)
  }

  /** Gives memory back that can be read again. */
  forget(): void {
    this.#events = []
    this.#chars = 0
  }
}
