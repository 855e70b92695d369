import { providerFormats } from '../providers/provider-formats.ts'
import { type ProviderSdk, type SdkFetch, sdkBaseUrl } from '../providers/provider-sdk.ts'
import type { Endpoint } from './managed-providers.ts'
import { sendUpstream, type UpstreamReach, type UpstreamReply } from './upstream-request.ts'

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
