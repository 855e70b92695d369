import { type Dispatcher, Pool } from 'undici'
import type { SsrfGuard } from '../../tools/ssrf-guard.ts'
import type { CallPolicy } from '../call-policy.ts'
import type { Route } from '../calls/routes.ts'

/** Connections at once to one origin; a streamed answer holds one. Further calls wait. */
const maxConnections = 1024

/** Where the requests of one route go. */
export interface Upstream {
  readonly dispatcher: Dispatcher
  readonly origin: string
  /** Path of the base URL, without a slash at its end. */
  readonly basePath: string
}

/** Connections to providers: one pool an origin; what a customer named goes through the guard. */
export class Upstreams {
  readonly #guard: Pick<SsrfGuard, 'dispatcher' | 'check'>
  readonly #connectTimeoutMs: number
  readonly #pools = new Map<string, Pool>()
  readonly #known = new WeakMap<Route, Upstream>()

  constructor(guard: Pick<SsrfGuard, 'dispatcher' | 'check'>, policy: Pick<CallPolicy, 'connectTimeoutMs'>) {
    this.#guard = guard
    this.#connectTimeoutMs = policy.connectTimeoutMs
  }

  /** @throws {SsrfRefused} when a customer's URL is not one that the server connects to. */
  of(route: Route): Upstream {
    const known = this.#known.get(route)
    if (known !== undefined) return known
    const guarded = route.source === 'byok' || route.source === 'custom'
    const { origin, pathname } = guarded ? this.#guard.check(route.baseUrl) : new URL(route.baseUrl)
    const dispatcher = guarded ? this.#guard.dispatcher : this.#pool(origin)
    const made = { dispatcher, origin, basePath: pathname.replace(/\/+$/, '') }
    this.#known.set(route, made)
    return made
  }

  /** Ends all connections; calls in flight fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  #pool(origin: string): Pool {
    const known = this.#pools.get(origin)
    if (known !== undefined) return known
    const pool = openPool(origin, this.#connectTimeoutMs)
    this.#pools.set(origin, pool)
    return pool
  }
}

/** HTTP/1.1 only: there an abort closes the socket, which every server notices at once. Time limits are the call's own. */
const openPool = (origin: string, timeout: number): Pool =>
  new Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout },
  })
