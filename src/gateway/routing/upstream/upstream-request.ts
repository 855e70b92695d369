import type { TokenRequest } from '#gateway/call/authorization/authorization.ts'
import { issuedToken, NoToken } from '#gateway/call/authorization/issued-token.ts'
import {
  sendUpstream,
  type UpstreamReach,
  type UpstreamReply,
  type UpstreamRequest,
} from '#gateway/call/authorization/small-request.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { type ProviderSdk, type SdkFetch, sdkBaseUrl } from '#gateway/providers/provider-sdk.ts'
import type { Endpoint } from '../managed-providers.ts'

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
