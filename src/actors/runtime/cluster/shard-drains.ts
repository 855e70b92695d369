import type { Clock } from '../clock.ts'
import type { HeldShards } from './held-shards.ts'

/** A shard that another process should have is given to it when nothing runs in it for a moment; tried for so long, in ms. */
const tryMs = 4000
/** After an attempt in vain the shard is left alone for so long, doubled each time up to the most, in ms. */
const againMs = 5000
const mostAgainMs = 60_000
const lookMs = 50
/** So many shards are begun with in a second. */
const perSecond = 32

/** What handing shards over needs. */
export interface ShardDrainsParts {
  readonly held: HeldShards
  /** The shards in which something runs that has to end here: an effect, a step. */
  readonly busyShards: () => ReadonlySet<number>
  /** Writes what is still to be written of the actors here. */
  readonly flush: () => Promise<void>
  /** Gives shards back; nothing of them goes on here. */
  readonly release: (shards: ReadonlySet<number>) => void
  /** The shard stays after all: what was not begun in it is begun now. */
  readonly reopened: (shards: ReadonlySet<number>) => void
  readonly clock: Clock
}

interface Drain {
  readonly until: number
  /** Given back even if something still runs when the time is over. */
  readonly forced: boolean
}

interface Failure {
  readonly count: number
  readonly notBefore: number
}

/**
 * Hands shards over: no effect begins in one any more, those that run go on to their end, then it is given back, and
 * its next owner begins what was requested meanwhile. No caller has to wait, and no turn is cut so that shards
 * are spread evenly: one that does not get quiet stays for a while.
 */
export class ShardDrains {
  readonly #parts: ShardDrainsParts
  readonly #drains = new Map<number, Drain>()
  readonly #failures = new Map<number, Failure>()
  #begunAt: number[] = []
  #looking = false
  #idle: (() => void)[] = []

  constructor(parts: ShardDrainsParts) {
    this.#parts = parts
  }

  /** Another process should have these shards: gives them away, some at a time, those first in which nothing runs. */
  offer(shards: readonly number[]): void {
    const now = this.#parts.clock.steady()
    this.#begunAt = this.#begunAt.filter((at) => now - at < 1000)
    const budget = perSecond - this.#begunAt.length
    const busy = this.#parts.busyShards()
    const ready = shards.filter((shard) => this.#mayTry(shard, now))
    const quiet = [...ready.filter((shard) => !busy.has(shard)), ...ready.filter((shard) => busy.has(shard))]
    for (const shard of quiet.slice(0, Math.max(0, budget))) {
      this.#begunAt.push(now)
      this.#begin(shard, { until: now + tryMs, forced: false })
    }
    for (const shard of this.#failures.keys()) if (!shards.includes(shard)) this.#failures.delete(shard)
  }

  /** Gives everything back, each shard as soon as nothing runs in it, all of it after `graceMs`. */
  async all(graceMs: number): Promise<void> {
    const until = this.#parts.clock.steady() + graceMs
    for (const shard of this.#parts.held.shards) this.#begin(shard, { until, forced: true })
    if (this.#drains.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** The shard was taken by another process. */
  forget(shards: ReadonlySet<number>): void {
    for (const shard of shards) this.#drains.delete(shard)
  }

  #mayTry(shard: number, now: number): boolean {
    return !this.#drains.has(shard) && (this.#failures.get(shard)?.notBefore ?? 0) <= now
  }

  #begin(shard: number, drain: Drain): void {
    this.#parts.held.close(shard)
    this.#drains.set(shard, drain)
    if (this.#looking) return
    this.#looking = true
    this.#parts.clock.soon(() => void this.#look())
  }

  async #look(): Promise<void> {
    const quiet = this.#without(this.#parts.busyShards())
    if (quiet.length > 0) {
      await this.#parts.flush()
      const busy = this.#parts.busyShards()
      this.#finish(new Set(quiet.filter((shard) => this.#drains.has(shard) && !busy.has(shard))))
    }
    this.#expire(this.#parts.clock.steady())
    if (this.#drains.size > 0) {
      this.#parts.clock.after(lookMs, () => void this.#look())
      return
    }
    this.#looking = false
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
      this.#failures.set(shard, { count, notBefore: now + Math.min(mostAgainMs, againMs * 2 ** (count - 1)) })
      this.#drains.delete(shard)
      this.#parts.held.reopen(shard)
    }
    if (stay.length > 0) this.#parts.reopened(new Set(stay))
  }
}
