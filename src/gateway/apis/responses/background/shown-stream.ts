import type { PushedBody } from '#gateway/call/streaming/pushed-body.ts'
import type { EventSink } from '#runtime/index.ts'
import { nextSlice, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { LogEvent } from '#storage/index.ts'
import type { ShownEvents } from './shown-events.ts'

/** Frames that a stream writes in one turn of the loop: a few milliseconds of it. */
const perTurn = 256

/** What follows when everything so far is written. */
interface Following {
  /** Continues to read the log. */
  readonly more: () => void
  readonly end: () => void
}

/**
 * Writes the events of a log for one reader. One event of a log has thousands of frames when the response has ended, so
 * they are written in many turns of the loop, at the pace of the reader, and the log is read on when they are written.
 */
export class ShownStream implements EventSink {
  readonly #body: PushedBody
  readonly #shown: ShownEvents
  readonly #following: Following
  #work: SlicedWork<void>[] = []
  #left = perTurn
  #isWaiting = false
  #isOver = false

  constructor(body: PushedBody, shown: ShownEvents, following: Following) {
    this.#body = body
    this.#shown = shown
    this.#following = following
  }

  push(events: readonly LogEvent[]): boolean {
    for (const event of events) this.#work.push(this.#shown.take(event))
    return this.#write()
  }

  end(): void {
    this.#isOver = true
    if (this.#work.length === 0) this.#following.end()
  }

  /** The reader accepts frames again. */
  resume(): void {
    const hadWork = this.#work.length > 0
    if (!this.#write()) return
    if (!this.#isOver) this.#following.more()
    else if (hadWork) this.#following.end()
  }

  /** The reader has disconnected. */
  stop(): void {
    this.#work = []
  }

  /** @returns whether everything is written and the reader accepts more. */
  #write(): boolean {
    for (let [first] = this.#work; first !== undefined; [first] = this.#work) {
      if (this.#isWaiting || !this.#body.write('')) return false
      if (this.#left === 0) {
        this.#isWaiting = true
        void nextSlice().then(() => this.#nextTurn())
        return false
      }
      this.#left--
      if (first.next().done === true) this.#work.shift()
    }
    return this.#body.write('')
  }

  #nextTurn(): void {
    this.#isWaiting = false
    this.#left = perTurn
    this.resume()
  }
}
