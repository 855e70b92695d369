import type { Logger } from 'pino'
import type { CommitStore } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import type { Host } from '../host.ts'
import { recover, recoverLate } from './recovery.ts'

/** Late work of a shard's former owner is looked for until then, in ms (recovery.ts). */
const lateOverMs = 40_000

/** Takes up what the former owners of shards left undone, as soon as this process holds them and the store answers. */
export class ShardRecovery {
  readonly #host: Host
  readonly #store: CommitStore
  readonly #clock: Clock
  readonly #log: Logger
  readonly #late = new Set<() => void>()
  /** What is being taken up, by shard. */
  readonly #underWay = new Map<number, Promise<void>>()
  #stopped = false
  #first: Promise<void> | undefined

  constructor(host: Host, store: CommitStore, clock: Clock, log: Logger) {
    this.#host = host
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  /** Resolves when the shards that were taken first have been gone through. */
  get first(): Promise<void> {
    return this.#first ?? Promise.resolve()
  }

  begin(shards: readonly number[]): void {
    const work = this.#takeUp(shards).finally(() => {
      for (const shard of shards) if (this.#underWay.get(shard) === work) this.#underWay.delete(shard)
    })
    for (const shard of shards) this.#underWay.set(shard, work)
    this.#first ??= work
  }

  /**
   * Resolves when what a shard's former owner left undone has been looked for; undefined when that is so. Until then an
   * actor that a durable commit asked for may not be there.
   */
  underWay(shard: number): Promise<void> | undefined {
    return this.#underWay.get(shard)
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#late) cancel()
  }

  async #takeUp(shards: readonly number[]): Promise<void> {
    for (let attempt = 0, done = false; !done; attempt++) {
      const held = shards.filter((shard) => this.#host.ownership.heldUnder(shard) !== undefined)
      if (this.#stopped || held.length === 0) return
      done = await this.#attempt(held)
      if (!done) await pause(this.#clock, backoffMs(attempt, 250, 5000))
    }
    const cancel = recoverLate(this.#host, this.#store, this.#clock, this.#log, shards)
    this.#late.add(cancel)
    this.#clock.after(lateOverMs, () => this.#late.delete(cancel))
  }

  async #attempt(shards: readonly number[]): Promise<boolean> {
    try {
      await recover(this.#host, this.#store, this.#clock, this.#log, shards)
      return true
    } catch (error) {
      this.#log.warn({ shards: shards.length, err: error }, 'open work of shards not taken up, trying again')
      return false
    }
  }
}
