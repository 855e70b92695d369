import type { ModelErrorCode } from './provider-port.ts'
import type { Route } from './routes.ts'

/** Failures in a row after which a route is passed over, and for how long. */
const failuresMax = 3
const restMs = 10_000

interface Health {
  failures: number
  /** ms since the epoch. */
  restsUntil: number
}

/** What says that a provider is in trouble; a refusal of the request says nothing about it. */
const troubles: ReadonlySet<ModelErrorCode> = new Set([
  'provider_unavailable',
  'provider_timeout',
  'provider_error',
  'provider_stream_broken',
])

/** Which routes had better be left alone for some seconds. Of this process; a caller without another route takes them all the same. */
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
    // more than a whole rest is left where the clock was set back meanwhile
    return leftMs > 0 && leftMs <= restMs
  }

  /** One more failure after the rest ends it begins the next one at once. */
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
