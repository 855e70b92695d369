import type { Clock } from '../clock.ts'
import type { Ownership } from './ownership.ts'

/** Maximum time that a process may continue while a later one runs, in ms (`EpochWatch` stops it). */
export const overlapMs = 5000

/**
 * Ownership of a process that runs every actor, under one epoch. Whether it is still the only one is checked by the
 * watch (epoch-watch.ts).
 */
export class SoleOwner implements Ownership {
  readonly epoch: number
  readonly shards = undefined
  readonly #aloneAt: number
  readonly #afterCrash: boolean

  /** @param afterCrash whether the previous process ended without a clean shutdown. */
  constructor(epoch: number, clock: Pick<Clock, 'steady'>, afterCrash = false) {
    this.#afterCrash = afterCrash
    this.epoch = epoch
    this.#aloneAt = epoch === 1 ? 0 : clock.steady() + overlapMs
  }

  epochOf(): number {
    return this.epoch
  }

  heldUnder(): number {
    return this.epoch
  }

  isFresh(): boolean {
    return true
  }

  opens(): boolean {
    return true
  }

  crashed(): boolean {
    return this.#afterCrash
  }

  aloneFrom(): number {
    return this.#aloneAt
  }
}
