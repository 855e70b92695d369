import type { Dispatcher, Pool } from 'undici'
import { Http1Pool, type PoolRequest } from '#outgoing/http1/http1-pool.ts'
import { identityEncoding } from '#outgoing/identity-encoding.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { undici } from '#outgoing/undici.ts'
import { ownVia } from '#outgoing/via.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { traceparent } from '#telemetry/trace-context.ts'
import type { Tracer } from '#telemetry/tracer.ts'
import { accessTokens } from './authorization/access-tokens.ts'
import type { Authorize, TokenRequest, UnsignedRequest } from './authorization/authorization.ts'
import type { CallPolicy } from './call-policy.ts'
import { AttemptFailed, unavailable, unreachable } from './failure.ts'
import type { Route } from './routes.ts'

/** Maximum number of simultaneous connections to one origin; a streamed answer occupies one. Further calls wait. */
const maxConnections = 1024

/** Connections and address for the requests of one route. */
export interface Upstream {
  readonly dispatcher: Dispatcher
  readonly origin: string
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string
  /** Dispatcher for most requests: POST with complete bodies. */
  readonly posting: PostDispatcher
  /** Whether requests require the authorization that `posting` adds. */
  readonly isAuthorized: boolean
  /** Returns the headers that authorize a request which is not sent by `posting`. @throws {AttemptFailed} */
  readonly authorization: (request: UnsignedRequest) => ReturnType<Authorize>
}

/** Sends requests whose body is sent as a whole. */
interface PostDispatcher {
  /** @throws {TypeError} for a header that is invalid in HTTP. */
  dispatch(request: PoolRequest, handler: PostHandler): void
}

/** Receives the answer of a request, or the reason why it was not sent. */
interface PostHandler extends Dispatcher.DispatchHandler {
  readonly refuse?: (failure: AttemptFailed) => void
}

/** How requests of an API are authorized as they are sent; undefined when their own headers suffice. */
export type AuthorizeOf = (format: WireFormat) => Authorize | undefined

const none: AuthorizeOf = () => undefined

interface UpstreamOptions {
  readonly telemetry?: Telemetry | undefined
  readonly authorizeOf?: AuthorizeOf | undefined
}

/** Connections to providers: one pool per origin. Addresses that a customer configured go through the SSRF guard. */
export class Upstreams {
  readonly #guard: Pick<SsrfGuard, 'dispatcher' | 'check'>
  readonly #connectTimeoutMs: number
  readonly #pools = new Map<string, Pool>()
  readonly #posting = new Map<string, Http1Pool>()
  readonly #known = new WeakMap<Route, Upstream>()
  readonly #tracer: Tracer | null
  readonly #authorizeOf: AuthorizeOf

  constructor(
    guard: Pick<SsrfGuard, 'dispatcher' | 'check'>,
    policy: Pick<CallPolicy, 'connectTimeoutMs'>,
    { telemetry, authorizeOf = none }: UpstreamOptions = {},
  ) {
    this.#tracer = telemetry?.tracer ?? null
    this.#authorizeOf = authorizeOf
    this.#guard = guard
    this.#connectTimeoutMs = policy.connectTimeoutMs
  }

  /** @throws {SsrfRefused} when this server does not connect to the URL that a customer configured. */
  of(route: Route): Upstream {
    const known = this.#known.get(route)
    if (known !== undefined) return known
    const guarded = route.source === 'byok' || route.source === 'custom'
    const { origin, pathname } = guarded ? this.#guard.check(route.baseUrl) : new URL(route.baseUrl)
    const dispatcher = (): Dispatcher => (guarded ? this.#guard.dispatcher : this.#pool(origin))
    const plain = guarded ? throughGuard(this.#guard.dispatcher, origin) : this.#postsTo(origin)
    const basePath = pathname.replace(/(?<!\/)\/+$/, '')
    const authorize = this.#authorizeOf(route.format)
    const sending = traced(plain, this.#tracer)
    const isAuthorized = authorize !== undefined
    const tokenOf = (request: TokenRequest): Promise<string> =>
      accessTokens.of(guarded ? this.#guard.dispatcher : this.#pool(new URL(request.url).origin), request)
    const authorization: Upstream['authorization'] = async (one) => authorize?.(route, one, tokenOf) ?? {}
    const posting = isAuthorized ? authorized(sending, origin, authorization) : sending
    const made = new KnownUpstream(dispatcher, { origin, basePath, posting, isAuthorized, authorization })
    this.#known.set(route, made)
    return made
  }

  /** Closes all connections; calls in flight fail. */
  async close(): Promise<void> {
    for (const posting of this.#posting.values()) posting.destroy()
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  #postsTo(origin: string): Http1Pool {
    const known = this.#posting.get(origin)
    if (known !== undefined) return known
    const connectTimeoutMs = this.#connectTimeoutMs
    const headers = { via: ownVia, ...identityEncoding }
    const made = new Http1Pool(origin, { connections: maxConnections, connectTimeoutMs, headers })
    this.#posting.set(origin, made)
    return made
  }

  #pool(origin: string): Pool {
    const known = this.#pools.get(origin)
    if (known !== undefined) return known
    const pool = openPool(origin, this.#connectTimeoutMs)
    this.#pools.set(origin, pool)
    return pool
  }
}

/** Opens its dispatcher lazily, since most requests use `posting` only. */
class KnownUpstream implements Upstream {
  readonly origin: string
  readonly basePath: string
  readonly posting: PostDispatcher
  readonly isAuthorized: boolean
  readonly authorization: Upstream['authorization']
  readonly #dispatcher: () => Dispatcher

  constructor(dispatcher: () => Dispatcher, parts: Omit<Upstream, 'dispatcher'>) {
    this.origin = parts.origin
    this.basePath = parts.basePath
    this.posting = parts.posting
    this.isAuthorized = parts.isAuthorized
    this.authorization = parts.authorization
    this.#dispatcher = dispatcher
  }

  get dispatcher(): Dispatcher {
    return this.#dispatcher()
  }
}

/**
 * Returns the upstream of a route.
 * @throws {AttemptFailed} `provider_unavailable` when this server does not connect to it.
 */
export const reachable = (upstreams: Pick<Upstreams, 'of'>, route: Route): Upstream => {
  try {
    return upstreams.of(route)
  } catch {
    throw unavailable()
  }
}

/** Adds the `traceparent` of the call's span to each request, when tracing is on. */
const traced = (posting: PostDispatcher, tracer: Tracer | null): PostDispatcher =>
  tracer === null
    ? posting
    : {
        dispatch: (request, handler) => {
          const { current } = tracer
          const once = current === null ? request.once : { ...request.once, traceparent: traceparent(current) }
          posting.dispatch({ ...request, once }, handler)
        },
      }

/** Adds the headers that depend on the request, or on a token. */
const authorized = (posting: PostDispatcher, origin: string, authorize: Upstream['authorization']): PostDispatcher => ({
  dispatch: (request, handler) => {
    const { path, body } = request
    const sent = authorize({ method: 'POST', url: new URL(origin + path), body })
    sent.then(
      (headers) => posting.dispatch({ ...request, once: { ...request.once, ...headers } }, handler),
      (error: unknown) => handler.refuse?.(error instanceof AttemptFailed ? error : unreachable()),
    )
  },
})

/** Timeouts are enforced by the call itself. */
const noLimits = { headersTimeout: 0, bodyTimeout: 0 } as const

const throughGuard = (dispatcher: Dispatcher, origin: string): PostDispatcher => ({
  dispatch: ({ path, headers, once, body }, handler) => {
    const all = { via: ownVia, ...identityEncoding, ...headers, ...once }
    dispatcher.dispatch({ origin, method: 'POST', path, headers: all, body, ...noLimits }, handler)
  },
})

/** HTTP/1.1 only: there an abort closes the socket, which every server notices immediately. */
const openPool = (origin: string, timeout: number): Pool =>
  new (undici().Pool)(origin, {
    connections: maxConnections,
    pipelining: 1,
    allowH2: false,
    ...noLimits,
    connect: { timeout },
  })
