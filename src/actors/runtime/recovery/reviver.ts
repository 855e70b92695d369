import { backoffMs, type Clock, pause } from '../clock.ts'
import { NotOwner } from '../commit/superseded.ts'
import type { Logger } from '../logger.ts'

/** A first commit whose write was given up may reach the store this long after, in ms. */
const lateMs = [5_000, 30_000]

/** Dependencies of `Reviver`: how an actor is loaded, and whether this process runs it. */
export interface ReviverParts {
  readonly load: (id: string) => Promise<unknown>
  readonly holds: (id: string) => boolean
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Reloads actors whose last commit has an unknown outcome: it may have been written, and then has to be carried out
 * even if no request needs the actor.
 */
export class Reviver {
  readonly #load: (id: string) => Promise<unknown>
  readonly #holds: (id: string) => boolean
  readonly #clock: Clock
  readonly #log: Logger
  readonly #underWay = new Map<string, Promise<void>>()

  /** @param holds whether this process runs the actor; its lease may be too old to be certain. */
  constructor({ load, holds, clock, log }: ReviverParts) {
    this.#load = load
    this.#holds = holds
    this.#clock = clock
    this.#log = log
  }

  /** Resolves when an actor that is being reloaded is in memory; undefined for every other actor. */
  underWay(id: string): Promise<void> | undefined {
    return this.#underWay.get(id)
  }

  /** Loads the actor as soon as the store answers. @param atOnce nothing says that it does not answer now. */
  revive(id: string, atOnce = false): void {
    if (this.#underWay.has(id)) return
    const work = this.#revive(id, atOnce).finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, work)
  }

  async #revive(id: string, atOnce: boolean): Promise<void> {
    for (let attempt = 0, loaded = false; !loaded; attempt++) {
      if (attempt > 0 || !atOnce) await pause(this.#clock, backoffMs(attempt, 100, 5000))
      loaded = await this.#attempt(id, attempt)
    }
  }

  async #attempt(id: string, attempt: number): Promise<boolean> {
    try {
      if ((await this.#load(id)) === null) this.#retryLater(id)
      return true
    } catch (error) {
      // the owner carries the commit out; that is this process if its lease is renewed under the same epoch
      if (error instanceof NotOwner && !this.#holds(id)) return true
      this.#log.warn({ actorId: id, attempt, err: error }, 'actor not loaded, trying again')
      return false
    }
  }

  /** Looks again later: nothing fences the first commit of an actor, so it can arrive as long as it is in flight. */
  #retryLater(id: string): void {
    for (const ms of lateMs) this.#clock.after(ms, () => void this.#load(id).catch(() => this.revive(id)))
  }
}
