import { nextSlice } from '#src/concurrency/run-in-slices.ts'

/** Time in ms for starting streams within one turn of the loop. */
const budgetMs = 8

/**
 * Starts streams at once, or in later loop turns when this turn's time is used up: a stream reads a page of its log
 * when it starts, and requests for hundreds may arrive in one turn.
 */
export class StreamStarts {
  /** Time at which the first stream of this loop turn was started; null before it. */
  #since: number | null = null
  readonly #turnIsOver = (): void => {
    this.#since = null
  }

  /** @param contain runs a deferred start, whose exception no longer reaches a request. */
  start(begin: () => void, contain: (work: () => void) => void): void {
    if (this.#since === null) {
      this.#since = performance.now()
      setImmediate(this.#turnIsOver)
    } else if (performance.now() - this.#since > budgetMs) {
      void nextSlice().then(() => contain(begin))
      return
    }
    begin()
  }
}
