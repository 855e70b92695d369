import type { Clock } from '../clock.ts'
import type { HeldShards } from './held-shards.ts'
import type { Surplus } from './placement.ts'

/** How long a handover waits for a moment in which nothing runs in the shard, in ms. */
const tryMs = 4000
/** Initial and maximum delay after a failed handover of a shard, in ms; it doubles with each failure. */
const againMs = 5000
const maxRetryMs = 60_000
const pollMs = 50
/** Maximum fraction of all shards whose handover is started per second. */
const perSecond = 1 / 8

/** Dependencies of `ShardDrains`. */
export interface ShardDrainsParts {
  readonly held: HeldShards
  /** Returns the shards in which an effect or a step is running, which has to end here. */
  readonly busyShards: () => ReadonlySet<number>
  /** Writes the pending rows and settlements of the actors here. */
  readonly flush: () => Promise<void>
  /** Gives shards back; no work of their actors continues here. */
  readonly release: (shards: ReadonlySet<number>) => void
  /** Called when handovers were given up: effects that were held back are started. */
  readonly reopened: (shards: ReadonlySet<number>) => void
  readonly clock: Clock
}

interface Drain {
  readonly until: number
  /** Whether the shard is given back at `until` even if something still runs in it. */
  readonly forced: boolean
}

interface Failure {
  readonly count: number
  readonly notBefore: number
}

/**
 * Hands shards over: no further effect starts in such a shard, running effects complete, the shard is given back, and
 * its next owner starts what was requested meanwhile. No caller has to wait, and no turn is cut for the sake of an even
 * distribution: a shard in which something keeps running stays for a while.
 */
export class ShardDrains {
  readonly #parts: ShardDrainsParts
  readonly #drains = new Map<number, Drain>()
  readonly #failures = new Map<number, Failure>()
  #begunAt: number[] = []
  #checking = false
  #idle: (() => void)[] = []

  constructor(parts: ShardDrainsParts) {
    this.#parts = parts
  }

  /** Starts handing over shards that other processes should hold: a limited number at a time, idle ones first. */
  offer(surplus: readonly Surplus[]): void {
    const now = this.#parts.clock.steady()
    this.#begunAt = this.#begunAt.filter((at) => now - at < 1000)
    const busy = this.#parts.busyShards()
    for (const { count, among } of surplus) {
      const underWay = among.filter((shard) => this.#drains.has(shard)).length
      const ready = among.filter((shard) => this.#mayTry(shard, now))
      const quiet = [...ready.filter((shard) => !busy.has(shard)), ...ready.filter((shard) => busy.has(shard))]
      const budget = Math.min(count - underWay, perSecond * this.#parts.held.space.count - this.#begunAt.length)
      for (const shard of quiet.slice(0, Math.max(0, budget))) {
        this.#begunAt.push(now)
        this.#begin(shard, { until: now + tryMs, forced: false })
      }
    }
    const offered = new Set(surplus.flatMap(({ among }) => among))
    for (const shard of this.#failures.keys()) if (!offered.has(shard)) this.#failures.delete(shard)
  }

  /** Gives all shards back, each as soon as nothing runs in it, and the rest after `graceMs`. */
  async all(graceMs: number): Promise<void> {
    const until = this.#parts.clock.steady() + graceMs
    for (const shard of this.#parts.held.shards) this.#begin(shard, { until, forced: true })
    if (this.#drains.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Drops the handovers of shards that another process has taken. */
  forget(shards: ReadonlySet<number>): void {
    for (const shard of shards) this.#drains.delete(shard)
  }

  #mayTry(shard: number, now: number): boolean {
    const isHeld = this.#parts.held.heldUnder(shard) !== undefined
    return isHeld && !this.#drains.has(shard) && (this.#failures.get(shard)?.notBefore ?? 0) <= now
  }

  #begin(shard: number, drain: Drain): void {
    this.#parts.held.close(shard)
    this.#drains.set(shard, drain)
    if (this.#checking) return
    this.#checking = true
    this.#parts.clock.soon(() => void this.#check())
  }

  async #check(): Promise<void> {
    const quiet = this.#without(this.#parts.busyShards())
    if (quiet.length > 0) {
      await this.#parts.flush()
      const busy = this.#parts.busyShards()
      this.#finish(new Set(quiet.filter((shard) => this.#drains.has(shard) && !busy.has(shard))))
    }
    this.#expire(this.#parts.clock.steady())
    if (this.#drains.size > 0) {
      this.#parts.clock.after(pollMs, () => void this.#check())
      return
    }
    this.#checking = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #without(busy: ReadonlySet<number>): readonly number[] {
    return [...this.#drains.keys()].filter((shard) => !busy.has(shard))
  }

  #finish(shards: ReadonlySet<number>): void {
    for (const shard of shards) {
      this.#drains.delete(shard)
      this.#failures.delete(shard)
    }
    if (shards.size > 0) this.#parts.release(shards)
  }

  #expire(now: number): void {
    const over = [...this.#drains].filter(([, { until }]) => until <= now)
    this.#finish(new Set(over.filter(([, { forced }]) => forced).map(([shard]) => shard)))
    const stay = over.filter(([, { forced }]) => !forced).map(([shard]) => shard)
    for (const shard of stay) {
      const count = (this.#failures.get(shard)?.count ?? 0) + 1
      this.#failures.set(shard, { count, notBefore: now + Math.min(maxRetryMs, againMs * 2 ** (count - 1)) })
      this.#drains.delete(shard)
      this.#parts.held.reopen(shard)
    }
    if (stay.length > 0) this.#parts.reopened(new Set(stay))
  }
}
