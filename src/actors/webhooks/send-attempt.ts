import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import type { JsonObject } from '#storage/index.ts'
import { sanitized } from '../records/sanitize.ts'

/** One request to a webhook. */
export interface AttemptRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Dependencies of an attempt. */
export interface AttemptParts {
  readonly guard: Pick<SsrfGuard, 'request'>
  /** Time limit in ms, from the start of the request to the end of the part of the response that is read. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Result of an attempt; `error` is null when the endpoint accepted the event. */
export interface AttemptOutcome {
  readonly status: number | null
  readonly error: AttemptError | null
  readonly response: JsonObject | null
}

/** Why an attempt failed. */
type AttemptError =
  | 'url_refused'
  | 'unreachable'
  | 'timeout'
  | 'redirect_refused'
  | 'http_error'
  /** The connection was established, but ended without a response: the endpoint may have the event. */
  | 'connection_lost'

/** Bytes of a response that are kept for the log. */
const maxKeptBytes = 2048
/** Response headers that the log shows: no cookies, and nothing that identifies a person. */
const keptHeaders = ['content-type', 'content-length', 'date', 'location', 'retry-after', 'server', 'x-request-id']

/**
 * Makes one attempt. Any 2xx status in time is a success, whatever the body. Redirects are not followed. Never throws.
 */
export const sendAttempt = async (request: AttemptRequest, parts: AttemptParts): Promise<AttemptOutcome> => {
  const limit = AbortSignal.timeout(parts.timeoutMs)
  const signal = AbortSignal.any([limit, parts.signal])
  const { url, headers, body } = request
  try {
    const answer = await parts.guard.request(url, {
      kind: 'webhook',
      method: 'POST',
      headers,
      body,
      signal,
      maxRedirects: 0,
    })
    return await answered(answer)
  } catch (error) {
    if (error instanceof SsrfRefused) return failed('url_refused')
    if (error instanceof RedirectFailed) return failed('redirect_refused')
    if (limit.aborted) return failed('timeout')
    return failed(isLost(error) ? 'connection_lost' : 'unreachable')
  }
}

/** Whether the connection was closed or reset, or the response was not HTTP. */
const isLost = (error: unknown): boolean => {
  const { name, code } = Object(error)
  return name === 'HTTPParserError' || ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)
}

const failed = (error: AttemptError): AttemptOutcome => ({ status: null, error, response: null })

const answered = async (answer: Dispatcher.ResponseData): Promise<AttemptOutcome> => {
  const { statusCode: status, headers } = answer
  const shown = keptHeaders.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []))
  // the status alone decides: a truncated body changes nothing
  const { bytes } = await boundedBody(answer.body, { maxBytes: maxKeptBytes, partial: true })
  const response = { headers: Object.fromEntries(shown), body: sanitized(bytes.toString('utf8')) }
  if (status >= 200 && status <= 299) return { status, error: null, response }
  const error = status >= 300 && status <= 399 ? 'redirect_refused' : 'http_error'
  return { status, error, response }
}
