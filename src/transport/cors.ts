import type { Headers } from './http/http-port.ts'

/** One request as CORS sees it. */
export interface CorsQuestion {
  /**
   * Whether the route may be called from a browser: true for routes for client tokens or public keys and public GETs,
   * false for secret-key-only ones.
   */
  readonly answers: boolean
  /** The Origin header, as `originIn` reads it. */
  readonly origin: string | undefined
  /** Whether the project of the request allows this origin; at a preflight, whether any may. */
  readonly allowed: boolean
}

const maxAgeS = 600

/** Allowed headers for a preflight that does not list the ones it needs. */
const usualHeaders = 'authorization, content-type, idempotency-key, last-event-id, x-event-names, x-request-id'

const maxRequestedHeaders = 4096
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

const exposedHeaders = [
  ...['date', 'idempotent-replayed', 'retry-after', 'x-request-id', 'request-id', 'x-provider', 'x-stream'],
  ...[
    'x-should-retry',
    'x-billing-mode',
    'x-provider-connection',
    'x-route',
    'x-cost-usd',
    'x-max-tokens-limited',
    'x-cache',
    'age',
    'x-guardrails',
  ],
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['', '-requests', '-tokens'].map((unit) => `x-ratelimit-${what}${unit}`),
  ),
  ...['x-service-memory-retrieved', 'x-service-memory-write-request', 'x-service-memory-skipped'],
].join(', ')

/** Maximum length of an origin: longer than any real one, since a host name has at most 253 characters. */
const maxOriginLength = 512

/** A serialised origin (RFC 6454): scheme, host, optional port; or `null`, which a sandboxed page sends. */
const wellFormedOrigin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[\w.~%:[\]-]+)$/i

/** Returns the Origin header if it is well formed. Any other value is treated as absent, and so is never echoed. */
export const originIn = (header: string | undefined): string | undefined =>
  header !== undefined && header.length <= maxOriginLength && wellFormedOrigin.test(header) ? header : undefined

const vary = ['vary', 'Origin'] as const
const preflightVary = ['vary', 'Origin, Access-Control-Request-Headers'] as const

const permits = (question: CorsQuestion): question is CorsQuestion & { origin: string } =>
  question.answers && question.allowed && question.origin !== undefined

/**
 * CORS headers of an ordinary answer. Credentials are never allowed: cookies of a browser have no effect here, since
 * tokens are sent explicitly. Routes that answer send `Vary: Origin` even to a request without an origin, so that no
 * cache gives one origin's answer to another.
 */
export const corsHeaders = (question: CorsQuestion): Headers => {
  if (permits(question)) {
    const origin = ['access-control-allow-origin', question.origin] as const
    return [origin, ['access-control-expose-headers', exposedHeaders], vary]
  }
  return question.answers ? [vary] : []
}

/**
 * Headers of the answer to a preflight (204); null when the route does not answer one.
 *
 * A page may send any header that it lists: the SDKs have many of their own (`x-stainless-…`, `anthropic-…`), and no
 * header grants more than the credential does.
 *
 * @param methods methods of the path.
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
