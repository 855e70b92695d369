import type { EnvelopeName, Operation, SdkEnvelope } from '#specs/dsl/declare.ts'
import type { HttpRequest } from '../http/http-port.ts'

/**
 * The SDK that sent a request, by its headers: only Anthropic's sends `anthropic-version`, only Google's
 * `x-goog-api-key`; both other vendors' SDKs send
 * `x-stainless-*`; the others name OpenAI in their User-Agent or in a header (`openai-organization`, `openai-project`:
 * async-openai sends nothing else). null for any other caller.
 */
export const sdkOf = (request: Pick<HttpRequest, 'header'>): SdkEnvelope | null => {
  if (request.header('anthropic-version') !== undefined) return 'anthropic'
  if (request.header('x-goog-api-key') !== undefined) return 'google'
  return openaiHeaders.some((name) => request.header(name) !== undefined) ||
    /openai/i.test(request.header('user-agent') ?? '')
    ? 'openai'
    : null
}

const openaiHeaders = ['x-stainless-lang', 'openai-organization', 'openai-project']

/** The error envelope of this request: the SDK's, if the operation supports it. */
export const envelopeFor = (
  { envelope, sdkEnvelopes }: Pick<Operation, 'envelope' | 'sdkEnvelopes'>,
  request: Pick<HttpRequest, 'header'>,
): EnvelopeName => {
  if (sdkEnvelopes.length === 0) return envelope
  const sdk = sdkOf(request)
  return sdk !== null && sdkEnvelopes.includes(sdk) ? sdk : envelope
}
