import type { ModelError, ModelErrorCode } from '../provider-port.ts'
import type { Route } from '../routes.ts'

/** Number of consecutive failures after which a route rests, and the length of the rest in ms. */
const failuresMax = 3
const restMs = 10_000
/** Rest of a key of a pool after a rate limit whose provider names no wait, and the longest one, in ms. */
const limitedMs = 1_000
const longestLimitedMs = 60_000
/** Weight of the newest value in a moving average. */
const newest = 0.2

/** What the routes of a pool are chosen by. */
export interface RouteState {
  /** Number of attempts in progress. */
  busy: number
  /** Moving average of the ms until an answer began; null when none has. */
  latencyMs: number | null
  /** Moving average of failed attempts, from 0 to 1. */
  failing: number
  /** Failures since the last success. */
  inARow: number
}

interface Health extends RouteState {
  failures: number
  /** ms since the epoch. */
  restsFrom: number
  /** 0: it does not rest. After a rest the route is on probation until an attempt has succeeded. */
  restMs: number
  /** The attempt on probation whose answer is awaited; null for none. */
  probe: Lease | null
}

/** Errors that indicate a problem of the provider; a refusal of the request does not. */
const troubles: ReadonlySet<ModelErrorCode> = new Set([
  'provider_unavailable',
  'provider_timeout',
  'provider_error',
  'provider_stream_broken',
])

const unknown: Readonly<RouteState> = { busy: 0, latencyMs: null, failing: 0, inARow: 0 }

/** One attempt in progress on a route. */
export class Lease {
  /** ms since the epoch. */
  readonly at: number
  readonly #health: Health
  readonly #begunAt = performance.now()
  #isOver = false

  constructor(health: Health, at: number) {
    this.#health = health
    this.at = at
    health.busy += 1
    if (health.restMs > 0) health.probe = this
  }

  /** The answer has begun. */
  answered(): void {
    const { latencyMs } = this.#health
    const ms = performance.now() - this.#begunAt
    this.#health.latencyMs = latencyMs === null ? ms : latencyMs + (ms - latencyMs) * newest
    this.#endProbe()
  }

  /** The attempt is over, however it ended. */
  release(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#health.busy -= 1
    this.#endProbe()
  }

  #endProbe(): void {
    if (this.#health.probe === this) this.#health.probe = null
  }
}

/**
 * Tracks how routes have served recent calls, in this process only: which should be avoided for some seconds, and how
 * busy, fast and reliable the keys of a pool are. After a rest, one attempt at a time tries the route, until its answer
 * begins or for ten seconds. A caller that has no other route uses a resting one all the same.
 */
export class RouteHealth {
  readonly #health = new WeakMap<Route, Health>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether calls with another route should not use this one now. */
  rests(route: Route): boolean {
    const health = this.#health.get(route)
    if (health === undefined || health.restMs === 0) return false
    return this.#isWithin(health.restsFrom, health.restMs) || this.#isWithin(health.probe?.at, restMs)
  }

  /** Returns what is known of a route of a pool. */
  stateOf(route: Route): Readonly<RouteState> {
    return this.#health.get(route) ?? unknown
  }

  /** Registers an attempt; null for routes of which only failures are tracked. */
  begin(route: Route): Lease | null {
    const known = this.#health.get(route)
    if (route.pool === undefined && (known === undefined || known.restMs === 0)) return null
    return new Lease(known ?? this.#added(route), this.#now())
  }

  /** Counts a failure. After a rest, a single further failure starts the next rest immediately. */
  failed(route: Route, { code, retryAfterMs }: Pick<ModelError, 'code' | 'retryAfterMs'>): void {
    const isLimited = code === 'provider_rate_limited' && route.pool !== undefined
    if (!isLimited && !troubles.has(code)) return
    const health = this.#health.get(route) ?? this.#added(route)
    health.failing += (1 - health.failing) * newest
    health.inARow++
    if (isLimited) this.#rest(health, Math.min(retryAfterMs ?? limitedMs, longestLimitedMs))
    else if (++health.failures >= failuresMax) this.#rest(health, restMs)
  }

  /** Counts a call that succeeded. */
  worked(route: Route): void {
    const health = this.#health.get(route)
    if (health === undefined) return
    health.failures = 0
    health.inARow = 0
    health.restMs = 0
    health.failing -= health.failing * newest
  }

  /** Whether less than `ms` have passed since a time, which is ahead only when the clock was set back in the meantime. */
  #isWithin(from: number | undefined, ms: number): boolean {
    const passedMs = from === undefined ? ms : this.#now() - from
    return passedMs >= 0 && passedMs < ms
  }

  #rest(health: Health, ms: number): void {
    health.restsFrom = this.#now()
    health.restMs = ms
  }

  #added(route: Route): Health {
    const health = { ...unknown, failures: 0, restsFrom: 0, restMs: 0, probe: null }
    this.#health.set(route, health)
    return health
  }
}
