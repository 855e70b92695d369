import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import type { CallPolicy } from './call-policy.ts'
import { type AttemptFailed, cancelled, statusFailure, timedOut, unreachable } from './failure.ts'
import { modelIdsOf } from './openai-answer.ts'
import type { OpenAiOptions } from './openai-provider.ts'
import { type EmbeddingAnswer, type EmbeddingRequest, ModelError } from './provider-port.ts'

/** What the SDK serves of an OpenAI-compatible server: all that is not hot. One attempt a call. */
export class OpenAiSdk {
  readonly #client: OpenAI

  constructor(options: OpenAiOptions, policy: CallPolicy) {
    this.#client = openSdk(options, policy)
  }

  /** @throws {AttemptFailed} {ModelError} when the server leaves out embeddings. */
  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingAnswer> {
    const input = [...request.input]
    const answer = await this.#client.embeddings
      .create({ model: request.model, input, encoding_format: 'float' }, { signal })
      .catch(refused)
    const rows = [...answer.data].sort((a, b) => a.index - b.index)
    if (rows.length !== input.length) throw new ModelError('provider_error', 'The provider left out embeddings.')
    const vectors = rows.map((row) => row.embedding)
    return { model: answer.model, vectors, inputTokens: answer.usage?.prompt_tokens ?? 0 }
  }

  /** @throws {AttemptFailed} */
  async listModels(signal: AbortSignal): Promise<string[]> {
    const page = await this.#client.models.list({ signal }).catch(refused)
    return modelIdsOf({ data: page.data })
  }
}

const refused = (error: unknown): never => {
  throw sdkFailure(error)
}

/** Everything is given here, so that the SDK takes nothing from its own environment variables. */
function openSdk(options: OpenAiOptions, policy: CallPolicy): OpenAI {
  return new OpenAI({
    baseURL: options.baseUrl,
    apiKey: options.apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: policy.firstByteTimeoutMs,
    logLevel: 'off',
    ...(options.apiKey === undefined ? { defaultHeaders: { authorization: null } } : {}),
  })
}

function sdkFailure(error: unknown): AttemptFailed {
  if (error instanceof APIUserAbortError) return cancelled()
  if (error instanceof APIConnectionTimeoutError) return timedOut('answer')
  if (!(error instanceof APIError) || error.status === undefined) return unreachable()
  const body = JSON.stringify({ error: error.error })
  return statusFailure(error.status, body, error.headers?.get('retry-after') ?? null, Date.now())
}
