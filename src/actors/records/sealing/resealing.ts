import type { Logger } from 'pino'
import type { Clock } from '#runtime/index.ts'
import { Rounds } from '#runtime/internal.ts'
import { type SealedParts, sealAnew } from './sealed-anew.ts'

/** Interval between two rounds, in ms: other nodes may still seal under an earlier key until they are replaced. */
const everyMs = 60 * 60 * 1000

/** Dependencies of `Resealing`. */
export interface ResealingParts extends SealedParts {
  readonly clock: Clock
  readonly log: Logger
}

/** Reseals all secrets under the newest master key, in the background of a server that also has an earlier key. */
export class Resealing {
  readonly #parts: ResealingParts
  readonly #rounds: Rounds

  constructor(parts: ResealingParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.#once() })
  }

  /** Starts a round at once, and the next one an hour after each round. */
  start(): void {
    this.#rounds.start(0)
  }

  /** Stops after the current page. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  async #once(): Promise<void> {
    const { log } = this.#parts
    try {
      const count = await sealAnew(this.#parts, () => !this.#rounds.stopped)
      if (count === null) return
      const { earlier: sealed, unreadable } = count
      log.info(
        { sealed, unreadable },
        'all secrets are sealed under the newest master key: earlier ones can be removed',
      )
    } catch (error) {
      log.warn({ err: error }, 'secrets were not sealed anew')
    }
  }
}
