import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { identityEncoding } from '#outgoing/identity-encoding.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ownVia } from '#outgoing/via.ts'
import { parseJson } from '#outgoing/wire.ts'
import { errorCodeOf } from '../call/failure.ts'
import type { TokenRequest } from '../providers/provider-format.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { type ProviderSdk, type SdkFetch, sdkBaseUrl } from '../providers/provider-sdk.ts'
import { issuedToken, NoToken } from './issued-token.ts'
import type { Endpoint } from './managed-providers.ts'

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

/** Sends a request with the token or the signature that the provider's format requires. Never throws. */
export const sendAuthorized = async (
  reach: UpstreamReach,
  endpoint: Endpoint,
  request: UpstreamRequest,
): Promise<UpstreamReply> => {
  const { authorize } = providerFormats[endpoint.format]
  if (authorize === undefined) return sendUpstream(reach, request)
  const { method, body = '' } = request
  try {
    // a token of the cache would not show that the credentials are accepted
    const tokenOf = async (needed: TokenRequest) => (await issuedToken(reach, needed)).token
    const added = await authorize(endpoint, { method, url: new URL(request.url), body }, tokenOf)
    return await sendUpstream(reach, { ...request, headers: { ...request.headers, ...added } })
  } catch (error) {
    if (!(error instanceof NoToken)) return { kind: 'trouble', trouble: 'unreachable' }
    const { reply } = error
    return reply.kind === 'answer' && reply.status < 500 && reply.status !== 429 ? { ...reply, status: 401 } : reply
  }
}

/**
 * Sends a request that a provider's SDK makes, within the limits of `sendUpstream`, and returns the provider's answer.
 * Never throws.
 *
 * The SDK chooses method, path and body. The headers are those of the provider's format: an SDK would also send the
 * operating system, the runtime, and what `OPENAI_CUSTOM_HEADERS` contains in the server's environment. The answer is
 * read here: compatible servers send lists and errors that the SDK does not expect.
 */
export const sdkRequest = async (
  reach: UpstreamReach,
  endpoint: Endpoint,
  request: (sdk: ProviderSdk) => Promise<unknown>,
): Promise<UpstreamReply> => {
  const { sdk, headers } = providerFormats[endpoint.format]
  let reply: UpstreamReply = { kind: 'trouble', trouble: 'unreachable' }
  const fetch: SdkFetch = async (url, { body } = {}) => {
    const json = { 'content-type': 'application/json' }
    const sent = typeof body === 'string' ? ({ method: 'POST', body } as const) : ({ method: 'GET' } as const)
    reply = await sendUpstream(reach, {
      ...sent,
      url: `${endpoint.baseUrl}${String(url).slice(sdkBaseUrl.length)}`,
      headers: { ...headers(endpoint), accept: 'application/json', ...(sent.method === 'POST' && json) },
    })
    if (reply.kind === 'trouble') throw new Error(reply.trouble)
    return new Response(null, { status: reply.status })
  }
  const client = await sdk?.(fetch)
  // an error of the SDK says less than the answer that it is about
  if (client !== undefined) await request(client).catch(() => {})
  return reply
}

/** Loads the SDK of a format, so that the first request of a process takes no longer than others. */
export const loadSdk = async ({ format }: Pick<Endpoint, 'format'>): Promise<void> => {
  await providerFormats[format].sdk?.(() => Promise.reject(new Error('nothing is sent')))
}
