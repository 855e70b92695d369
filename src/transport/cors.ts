import type { Headers } from './http/http-port.ts'

/** One request as CORS sees it. */
export interface CorsQuestion {
  /** Whether the route may be called from a browser: client-token routes and public GETs may, secret-key-only ones not. */
  readonly answers: boolean
  /** The Origin header, as `originIn` reads it. */
  readonly origin: string | undefined
  /** Whether the project of the request allows this origin; at a preflight, whether any may. */
  readonly allowed: boolean
}

const maxAgeS = 600

/** For a preflight that does not say what it wants to send. */
const usualHeaders = 'authorization, content-type, idempotency-key, last-event-id, x-event-names, x-request-id'

const maxRequestedHeaders = 4096
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

const exposedHeaders = [
  ...['idempotent-replayed', 'retry-after', 'x-request-id', 'request-id', 'x-provider', 'x-stream'],
  ...['x-billing-mode', 'x-provider-connection', 'x-cost-usd', 'x-max-tokens-limited'],
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['', '-requests', '-tokens'].map((unit) => `x-ratelimit-${what}${unit}`),
  ),
  ...['x-service-memory-retrieved', 'x-service-memory-write-request', 'x-service-memory-skipped'],
].join(', ')

/** Longer than any origin: a host name has 253 characters at most. */
const maxOriginLength = 512

/** A serialised origin (RFC 6454): scheme, host, perhaps a port; or `null`, which a sandboxed page sends. */
const wellFormedOrigin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[\w.~%:[\]-]+)$/i

/** The Origin header where it is one; anything else is answered as if it were not there, and so never echoed. */
export const originIn = (header: string | undefined): string | undefined =>
  header !== undefined && header.length <= maxOriginLength && wellFormedOrigin.test(header) ? header : undefined

const vary = ['vary', 'Origin'] as const
const preflightVary = ['vary', 'Origin, Access-Control-Request-Headers'] as const

const permits = (question: CorsQuestion): question is CorsQuestion & { origin: string } =>
  question.answers && question.allowed && question.origin !== undefined

/**
 * Headers of an ordinary answer. Never with credentials: a browser's cookies open nothing here, its tokens are explicit.
 * Routes that answer say `Vary: Origin` even without one, so that no cache gives one origin's answer to another.
 */
export const corsHeaders = (question: CorsQuestion): Headers => {
  if (permits(question)) {
    return [['access-control-allow-origin', question.origin], ['access-control-expose-headers', exposedHeaders], vary]
  }
  return question.answers ? [vary] : []
}

/**
 * Headers of the answer to a preflight (204); null when the route does not answer one.
 *
 * Whatever headers a page asks for it may send: the SDKs have many of their own (`x-stainless-…`, `anthropic-…`), and
 * none opens anything that the credential does not.
 *
 * @param methods that the path takes.
 * @param requestedHeaders `Access-Control-Request-Headers`.
 */
export const preflightHeaders = (
  question: CorsQuestion,
  methods: readonly string[],
  requestedHeaders?: string | undefined,
): Headers | null =>
  permits(question)
    ? [
        ['access-control-allow-origin', question.origin],
        ['access-control-allow-methods', methods.join(', ')],
        ['access-control-allow-headers', headersAllowed(requestedHeaders)],
        ['access-control-max-age', String(maxAgeS)],
        preflightVary,
      ]
    : null

const headersAllowed = (requested = ''): string =>
  requested.length <= maxRequestedHeaders && headerNames.test(requested) ? requested : usualHeaders

/** Whether a request is a preflight rather than a plain OPTIONS. */
export const isPreflight = (method: string, header: (name: string) => string | undefined): boolean =>
  method === 'OPTIONS' && header('origin') !== undefined && header('access-control-request-method') !== undefined
