import type {
  HeldUnits,
  HoldState,
  LimitState,
  RateLimit,
  RateLimits,
  SettledUnits,
  WantedUnits,
} from './cluster-ports.ts'

/** Number of parts that a window is counted in. */
export const partsOfWindow = 60

const maxKeys = 100_000

/** A monotonic clock in ms. With a wall clock that is set back, limits would refuse until it has caught up. */
export interface SteadyClock {
  steady(): number
}

/** Limits of this process alone; with several nodes, each allows the full limit. */
export class LocalLimits implements RateLimits {
  /**
   * Units by the time (ms by the steady clock) when they become available again. The most recently used key is last.
   */
  readonly #taken = new Map<string, Map<number, number>>()
  readonly #clock: SteadyClock

  constructor(clock: SteadyClock) {
    this.#clock = clock
  }

  async take(key: string, { limit, windowMs }: RateLimit, units = 1): Promise<LimitState> {
    const now = this.#clock.steady()
    const parts = this.#current(key, now)
    const taken = sumOf(parts)
    const allowed = taken + units <= limit
    if (allowed) add(parts, backAt(now, windowMs), units)
    const remaining = Math.max(0, limit - taken - (allowed ? units : 0))
    return { allowed, remaining, resetMs: resetOf(parts, now) }
  }

  async hold(key: string, { limit, windowMs }: RateLimit, wanted: WantedUnits): Promise<HoldState> {
    const now = this.#clock.steady()
    const parts = this.#current(key, now)
    const left = limit - sumOf(parts)
    if (left <= 0) return { allowed: false, remaining: 0, resetMs: resetOf(parts, now), held: null }
    const units = unitsOf(left, wanted)
    const back = backAt(now, windowMs)
    add(parts, back, units)
    const remaining = Math.max(0, left - units)
    return { allowed: true, remaining, resetMs: resetOf(parts, now), held: { units, back } }
  }

  async settle(key: string, { windowMs }: RateLimit, { held, units }: SettledUnits): Promise<HeldUnits> {
    const now = this.#clock.steady()
    const parts = this.#current(key, now)
    if (parts.has(held.back)) add(parts, held.back, -held.units)
    const back = backAt(now, windowMs)
    add(parts, back, units)
    return { units, back }
  }

  async reset(key: string): Promise<void> {
    this.#taken.delete(key)
  }

  #current(key: string, now: number): Map<number, number> {
    const parts = this.#taken.get(key) ?? new Map<number, number>()
    for (const back of parts.keys()) if (back <= now) parts.delete(back)
    this.#taken.delete(key)
    this.#evict(now)
    this.#taken.set(key, parts)
    return parts
  }

  #evict(now: number): void {
    for (const [key, parts] of this.#taken) {
      const over = [...parts.keys()].every((back) => back <= now)
      if (!over && this.#taken.size < maxKeys) return
      this.#taken.delete(key)
    }
  }
}

const sumOf = (parts: ReadonlyMap<number, number>): number => [...parts.values()].reduce((sum, part) => sum + part, 0)

/** A part without units is removed, since the first part determines the reset. */
const add = (parts: Map<number, number>, back: number, units: number): void => {
  const sum = (parts.get(back) ?? 0) + units
  if (sum > 0) parts.set(back, sum)
  else parts.delete(back)
}

const resetOf = (parts: ReadonlyMap<number, number>, now: number): number =>
  parts.size === 0 ? 0 : Math.min(...parts.keys()) - now

/** Units that are held when `left` are left, which is more than zero. */
const unitsOf = (left: number, { max, min }: WantedUnits): number =>
  min === undefined || min > left ? max : Math.min(max, Math.max(min, Math.floor(left / 8)))

/**
 * Time when a unit taken now becomes available again: never before its window has ended, at most one part of it later.
 */
const backAt = (now: number, windowMs: number): number => {
  const partMs = Math.max(1, Math.floor(windowMs / partsOfWindow))
  return (Math.floor(now / partMs) + 1) * partMs + windowMs
}
