import type { ModelErrorCode } from './provider-port.ts'
import type { Route } from './routes.ts'

/** Number of consecutive failures after which a route rests, and the length of the rest in ms. */
const failuresMax = 3
const restMs = 10_000

interface Health {
  failures: number
  /** ms since the epoch. */
  restsUntil: number
}

/** Errors that indicate a problem of the provider; a refusal of the request does not. */
const troubles: ReadonlySet<ModelErrorCode> = new Set([
  'provider_unavailable',
  'provider_timeout',
  'provider_error',
  'provider_stream_broken',
])

/**
 * Tracks which routes should be avoided for some seconds, in this process only. A caller that has no other route uses a
 * resting one all the same.
 */
export class Breaker {
  readonly #health = new WeakMap<Route, Health>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  rests(route: Route): boolean {
    const health = this.#health.get(route)
    if (health === undefined) return false
    const leftMs = health.restsUntil - this.#now()
    // more than a whole rest remains only when the clock was set back in the meantime
    return leftMs > 0 && leftMs <= restMs
  }

  /** Counts a failure. After a rest, a single further failure starts the next rest immediately. */
  failed(route: Route, code: ModelErrorCode): void {
    if (!troubles.has(code)) return
    const health = this.#health.get(route) ?? { failures: 0, restsUntil: 0 }
    health.failures += 1
    if (health.failures >= failuresMax) health.restsUntil = this.#now() + restMs
    this.#health.set(route, health)
  }

  worked(route: Route): void {
    this.#health.delete(route)
  }
}
