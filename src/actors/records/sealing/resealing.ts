import type { Logger } from 'pino'
import type { Clock } from '#runtime/clock.ts'
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
  #cancel: (() => void) | undefined
  #round: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(parts: ResealingParts) {
    this.#parts = parts
  }

  /** Begins at once, and looks again every hour. */
  start(): void {
    if (this.#stopped) return
    this.#round = this.#once()
    this.#cancel = this.#parts.clock.after(everyMs, () => this.start())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#round
  }

  async #once(): Promise<void> {
    const { log } = this.#parts
    try {
      const count = await sealAnew(this.#parts, () => !this.#stopped)
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
