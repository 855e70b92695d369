import type { Logger } from 'pino'
import { backoffMs, type Clock, pause } from './clock.ts'
import { Elsewhere } from './superseded.ts'

/**
 * Loads actors again whose last commit has no known outcome: it may have landed, and what it says has to be carried
 * out then, whether or not anybody asks for the actor.
 */
export class Reviver {
  readonly #load: (id: string) => Promise<unknown>
  readonly #holds: (id: string) => boolean
  readonly #clock: Clock
  readonly #log: Logger
  readonly #waiting = new Set<string>()

  /** @param holds whether the actor is this process's to run, though it may not be certain of that now. */
  constructor(load: (id: string) => Promise<unknown>, holds: (id: string) => boolean, clock: Clock, log: Logger) {
    this.#load = load
    this.#holds = holds
    this.#clock = clock
    this.#log = log
  }

  /** Loads the actor as soon as the store answers. */
  async revive(id: string): Promise<void> {
    if (this.#waiting.has(id)) return
    this.#waiting.add(id)
    for (let attempt = 0, loaded = false; !loaded; attempt++) {
      await pause(this.#clock, backoffMs(attempt, 100, 5000))
      loaded = await this.#attempt(id, attempt)
    }
    this.#waiting.delete(id)
  }

  async #attempt(id: string, attempt: number): Promise<boolean> {
    try {
      await this.#load(id)
      return true
    } catch (error) {
      // its owner takes up what it says: that is this process, when its lease is renewed under the same epoch
      if (error instanceof Elsewhere && !this.#holds(id)) return true
      this.#log.warn({ actorId: id, attempt, err: error }, 'actor not loaded, trying again')
      return false
    }
  }
}
