import type { Clock } from './clock.ts'

/** A periodic task and its interval. */
export interface RoundsParts {
  readonly clock: Pick<Clock, 'after'>
  /** Handles its own errors; what failed is left to the next round. */
  readonly round: () => void | Promise<void>
  /** From the end of one round to the start of the next, in ms. */
  readonly everyMs: number | (() => number)
}

/** Runs a periodic task until it is stopped; rounds never overlap. */
export class Rounds {
  readonly #parts: RoundsParts
  #cancel: (() => void) | undefined
  #working: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  /** True once `stop` was called; a long round should check it and end early. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** @param firstMs the delay before the first round; the usual interval when absent. */
  start(firstMs = this.#pauseMs()): void {
    if (this.#stopped) return
    this.#cancel = this.#parts.clock.after(firstMs, () => {
      this.#working = this.#next()
    })
  }

  /** Starts no further round. Resolves when the current round has ended. */
  stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    return this.#working
  }

  async #next(): Promise<void> {
    try {
      await this.#parts.round()
    } finally {
      this.start()
    }
  }

  #pauseMs(): number {
    const { everyMs } = this.#parts
    return typeof everyMs === 'number' ? everyMs : everyMs()
  }
}
