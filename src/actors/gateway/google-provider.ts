import { ApiError, type GenerateContentParameters, GoogleGenAI } from '@google/genai'
import type { Dispatcher } from 'undici'
import { type CallPolicy, defaultCallPolicy, withRetries } from './call-policy.ts'
import { GoogleAnswer } from './google-answer.ts'
import { googleRequest } from './google-wire.ts'
import {
  type EmbeddingAnswer,
  type EmbeddingRequest,
  type ModelAnswer,
  ModelError,
  type ModelProvider,
  type ModelRequest,
} from './provider-port.ts'
import { openAgent, UpstreamCall } from './upstream-call.ts'
import { tokensOfChars } from './usage.ts'
import { objectOf, parseJson } from './wire.ts'

/** Where and how to reach the Gemini API. */
export interface GoogleOptions {
  readonly apiKey: string
  /** Google's own when absent; without the API's version. */
  readonly baseUrl?: string
  readonly policy?: Partial<CallPolicy>
  /** Instead of connections of its own: for addresses that callers named, which only the guard may connect to. It stays open. */
  readonly dispatcher?: Dispatcher
}

const ownBaseUrl = 'https://generativelanguage.googleapis.com'

/** Google's Gemini API, through its SDK, whose retries and limits are off: ours hold for every provider alike. */
export class GoogleProvider implements ModelProvider {
  readonly id = 'google'
  readonly #client: GoogleGenAI
  readonly #agent: Dispatcher
  readonly #isOwn: boolean
  readonly #policy: CallPolicy

  constructor(options: GoogleOptions) {
    this.#policy = { ...defaultCallPolicy, ...options.policy }
    this.#agent = options.dispatcher ?? openAgent(this.#policy)
    this.#isOwn = options.dispatcher === undefined
    const httpOptions = { baseUrl: options.baseUrl ?? ownBaseUrl }
    this.#client = new GoogleGenAI({ apiKey: options.apiKey, vertexai: false, httpOptions })
  }

  async stream(request: ModelRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    const parameters = googleRequest(request)
    return await withRetries(this.#policy, signal, () => this.#attempt(request, parameters, onDelta, signal))
  }

  /** The API counts no tokens of embeddings; `inputTokens` is an estimate by length. */
  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingAnswer> {
    return await withRetries(this.#policy, signal, async () => {
      const call = new UpstreamCall(this.#agent, this.#policy, signal)
      try {
        const config = { abortSignal: call.signal, httpOptions: { fetch: call.fetch } }
        const contents = [...request.input]
        const answer = await this.#client.models.embedContent({ model: request.model, contents, config })
        const vectors = (answer.embeddings ?? []).map((embedding) => embedding.values ?? [])
        if (vectors.length !== request.input.length) {
          throw new ModelError('provider_error', 'The provider left out embeddings.')
        }
        const inputTokens = request.input.reduce((sum, text) => sum + tokensOfChars(text.length), 0)
        return { model: request.model, vectors, inputTokens }
      } catch (thrown) {
        throw thrown instanceof ModelError ? thrown : call.failureOf(thrown)
      } finally {
        call.close()
      }
    })
  }

  async close(): Promise<void> {
    if (this.#isOwn) await this.#agent.destroy()
  }

  async #attempt(
    request: ModelRequest,
    parameters: GenerateContentParameters,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const call = new UpstreamCall(this.#agent, this.#policy, signal)
    const answer = new GoogleAnswer(request, (text) => {
      if (!call.ended) onDelta(text)
    })
    const httpOptions = { fetch: call.fetch, headers: { 'idempotency-key': request.idempotencyKey } }
    const config = { ...parameters.config, abortSignal: call.signal, httpOptions }
    try {
      for await (const chunk of await this.#client.models.generateContentStream({ ...parameters, config })) {
        if (call.ended) break
        answer.push(chunk)
      }
      if (call.ended) throw call.failureOf(undefined)
      return answer.finish()
    } catch (thrown) {
      if (thrown instanceof ApiError) throw call.streamed(streamedError(thrown))
      throw call.failureOf(thrown)
    } finally {
      call.close()
    }
  }
}

/** The SDK puts an error object of the stream into its message, after a few words. */
function streamedError(error: ApiError): unknown {
  const at = error.message.indexOf('{')
  return at < 0 ? undefined : objectOf(parseJson(error.message.slice(at))).error
}
