import type { Ticking } from '#runtime/internal.ts'
import type { BodyPace } from './body-pace.ts'

/** An answer that is being sent. */
export interface SentAnswer {
  /** Returns the number of bytes that the connection has accepted. */
  accepted(): number
  /** Cuts the connection. */
  cut(): void
}

/**
 * Cuts a connection that accepts a long answer below the minimum rate of bodies: a reader that accepts a few bytes now
 * and then would keep the rest in memory for hours.
 */
export class PacedAnswer implements Ticking {
  place = -1
  readonly #pace: BodyPace
  readonly #answer: SentAnswer
  readonly #sinceMs = performance.now()

  constructor(pace: BodyPace, answer: SentAnswer) {
    this.#pace = pace
    this.#answer = answer
    pace.watch(this)
  }

  tick(): void {
    if (this.#pace.isTooSlow(this.#answer.accepted(), performance.now() - this.#sinceMs)) this.fail()
  }

  fail(): void {
    this.end()
    this.#answer.cut()
  }

  /** Called when the answer has ended. */
  end(): void {
    this.#pace.leave(this)
  }
}
