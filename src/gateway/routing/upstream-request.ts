import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { identityEncoding } from '#outgoing/identity-encoding.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ownVia } from '#outgoing/via.ts'
import { parseJson } from '#outgoing/wire.ts'
import { errorCodeOf } from '../call/failure.ts'

/** Largest answer that is read; a provider's list of models is some hundred kilobytes. */
const maxAnswerBytes = 8 * 1024 * 1024

/** One small question to a provider. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** What came back: a status with a body, or why nothing did. */
export type UpstreamReply =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string; readonly json: unknown }
  | { readonly kind: 'trouble'; readonly trouble: 'refused' | 'timeout' | 'unreachable' | 'cut' | 'too_large' }

/** How requests reach providers: through the guard, and not for ever. */
export interface UpstreamReach {
  readonly dispatcher: Dispatcher
  readonly timeoutMs: number
}

/** Sends one request. Never throws: trouble of any kind is a reply. Redirects are answers like any other: they are not followed. */
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
    // the reader of the body sees its errors; a body that is thrown away must not end the process with one
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
