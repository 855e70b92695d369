import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { identityEncoding } from '#outgoing/identity-encoding.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ownVia } from '#outgoing/via.ts'
import { parseJson } from '#outgoing/wire.ts'
import { errorCodeOf } from '../failure.ts'

/** Maximum size of an answer in bytes; lists of models have some hundred kilobytes. */
const maxAnswerBytes = 8 * 1024 * 1024

/** A small request to a provider, other than a model call. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The answer, or the reason why there is none. */
export type UpstreamReply =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly json: unknown }
  | { readonly kind: 'trouble'; readonly trouble: 'refused' | 'timeout' | 'unreachable' | 'cut' | 'too_large' }

/** How requests are sent: through the SSRF guard, and with a timeout. */
export interface UpstreamReach {
  readonly dispatcher: Dispatcher
  readonly timeoutMs: number
}

/**
 * Sends one request. Never throws: every failure is a reply. Redirects are returned like any other answer and not
 * followed.
 */
export const sendUpstream = async (
  { dispatcher, timeoutMs }: UpstreamReach,
  { url, method, headers, body }: UpstreamRequest,
): Promise<UpstreamReply> => {
  const limit = AbortSignal.timeout(timeoutMs)
  let answered = false
  try {
    const { origin, pathname, search } = new URL(url)
    const target = {
      origin,
      path: pathname + search,
      method,
      headers: { ...headers, ...identityEncoding, via: ownVia },
      signal: limit,
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    const answer = await dispatcher.request(body === undefined ? target : { ...target, body })
    answered = true
    // errors are reported to the reader of the body; without this listener, an error of a discarded body would end the
    // process
    answer.body.on('error', () => {})
    const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: maxAnswerBytes })
    if (isCut) return { kind: 'trouble', trouble: 'too_large' }
    const text = bytes.toString('utf8')
    return { kind: 'answer', status: answer.statusCode, text, json: parseJson(text) }
  } catch (error) {
    if (limit.aborted || errorCodeOf(error) === 'UND_ERR_CONNECT_TIMEOUT')
      return { kind: 'trouble', trouble: 'timeout' }
    if (error instanceof SsrfRefused) return { kind: 'trouble', trouble: 'refused' }
    return { kind: 'trouble', trouble: answered ? 'cut' : 'unreachable' }
  }
}
