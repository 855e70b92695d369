import type { Logger } from 'pino'
import type { Clock } from '#runtime/clock.ts'
import { Rounds } from '#runtime/rounds.ts'
import { type SealedParts, sealAnew } from './sealed-anew.ts'

/** Other nodes may still seal under an earlier key while they are replaced. */
const everyMs = 60 * 60 * 1000

/** What a change of the master key is carried out with. */
export interface ResealingParts extends SealedParts {
  readonly clock: Clock
  readonly log: Logger
}

/** Seals everything under the newest master key, in the background of a server that is given an earlier one too. */
export class Resealing {
  readonly #parts: ResealingParts
  readonly #rounds: Rounds

  constructor(parts: ResealingParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.#once() })
  }

  /** Begins at once, and looks again an hour after each end. */
  start(): void {
    this.#rounds.start(0)
  }

  /** Ends after the page under way. */
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
