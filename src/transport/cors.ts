import type { Headers } from './http-port.ts'

/** One request as CORS sees it. */
export interface CorsQuestion {
  /** Whether the route may be called from a browser: client-token routes and public GETs may, secret-key-only ones not. */
  readonly answers: boolean
  /** The Origin header. */
  readonly origin: string | undefined
  /** Whether the project of the request allows this origin; at a preflight, whether any may. */
  readonly allowed: boolean
}

const maxAgeS = 600

const requestHeaders = 'authorization, content-type, idempotency-key, last-event-id, x-event-names, x-request-id'

const exposedHeaders = 'idempotent-replayed, retry-after, x-request-id'

const vary = ['vary', 'Origin'] as const

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
 * @param methods that the path takes.
 */
export const preflightHeaders = (question: CorsQuestion, methods: readonly string[]): Headers | null =>
  permits(question)
    ? [
        ['access-control-allow-origin', question.origin],
        ['access-control-allow-methods', methods.join(', ')],
        ['access-control-allow-headers', requestHeaders],
        ['access-control-max-age', String(maxAgeS)],
        vary,
      ]
    : null

/** Whether a request is a preflight rather than a plain OPTIONS. */
export const isPreflight = (method: string, header: (name: string) => string | undefined): boolean =>
  method === 'OPTIONS' && header('origin') !== undefined && header('access-control-request-method') !== undefined
