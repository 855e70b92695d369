import type { Clock } from '../clock.ts'
import type { Ownership } from './ownership.ts'

/** How long a process may go on beside a later one at most, in ms (`EpochWatch` stops it). */
export const overlapMs = 5000

/** One process runs every actor, under one epoch. That it still does is the watch's to know (epoch-watch.ts). */
export class SoleOwner implements Ownership {
  readonly epoch: number
  readonly shards = undefined
  readonly #aloneAt: number
  readonly #afterCrash: boolean

  /** @param afterCrash the process before ended without a word. */
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
