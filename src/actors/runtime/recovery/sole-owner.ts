import type { Clock } from '../clock.ts'
import type { Ownership } from './ownership.ts'
import { type Shards, shardsOf } from './shard.ts'

/** Maximum time that a process may continue while a later one runs, in ms (`EpochWatch` stops it). */
export const overlapMs = 5000

/**
 * Ownership of a process that runs every actor, under one epoch. Whether it is still the only one is checked by the
 * watch (epoch-watch.ts).
 */
export class SoleOwner implements Ownership {
  readonly epoch: number
  readonly space: Shards
  readonly shards = undefined
  readonly #aloneAt: number
  readonly #afterCrash: boolean

  /**
   * @param options.space the shards of the store; those of a store that does not state them when absent.
   * @param options.afterCrash whether the previous process ended without a clean shutdown.
   */
  constructor(
    epoch: number,
    clock: Pick<Clock, 'steady'>,
    { space = shardsOf({}), afterCrash = false }: { readonly space?: Shards; readonly afterCrash?: boolean } = {},
  ) {
    this.space = space
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
