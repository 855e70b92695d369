import type { EnvelopeName, Operation, SdkEnvelope } from '#specs/dsl/declare.ts'
import type { HttpRequest } from '../http/http-port.ts'

/**
 * Whose SDK sent a request, by the headers that it adds: `anthropic-version` is Anthropic's alone; `x-stainless-*` comes with
 * the SDKs of both; the rest name OpenAI in their User-Agent, or in a header for whom they call (`openai-organization`,
 * `openai-project`: async-openai has nothing else of its own). null for every other caller.
 */
export const sdkOf = (request: Pick<HttpRequest, 'header'>): SdkEnvelope | null => {
  if (request.header('anthropic-version') !== undefined) return 'anthropic'
  return openaiHeaders.some((name) => request.header(name) !== undefined) ||
    /openai/i.test(request.header('user-agent') ?? '')
    ? 'openai'
    : null
}

const openaiHeaders = ['x-stainless-lang', 'openai-organization', 'openai-project']

/** The envelope of this request's errors: an SDK's own, where the operation has it. */
export const envelopeFor = (
  { envelope, sdkEnvelopes }: Pick<Operation, 'envelope' | 'sdkEnvelopes'>,
  request: Pick<HttpRequest, 'header'>,
): EnvelopeName => {
  if (sdkEnvelopes.length === 0) return envelope
  const sdk = sdkOf(request)
  return sdk !== null && sdkEnvelopes.includes(sdk) ? sdk : envelope
}
