import type { Clock } from './clock.ts'

/** A piece of upkeep: what is done again and again, and the pause between. */
export interface RoundsParts {
  readonly clock: Pick<Clock, 'after'>
  /** Ends well whatever happens: trouble is left to the next round. */
  readonly round: () => void | Promise<void>
  /** From the end of a round to the beginning of the next one, in ms. */
  readonly everyMs: number | (() => number)
}

/** Does a piece of upkeep one round after the other until it is stopped; two never overlap. */
export class Rounds {
  readonly #parts: RoundsParts
  #cancel: (() => void) | undefined
  #working: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(parts: RoundsParts) {
    this.#parts = parts
  }

  /** A round that takes long ends early where it can. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** @param firstMs the pause before the first round; as long as every other when absent. */
  start(firstMs = this.#pauseMs()): void {
    if (this.#stopped) return
    this.#cancel = this.#parts.clock.after(firstMs, () => {
      this.#working = this.#next()
    })
  }

  /** No round begins any more. Resolves when the one under way has ended. */
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
