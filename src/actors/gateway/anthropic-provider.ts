import Anthropic, { APIError } from '@anthropic-ai/sdk'
import type { Dispatcher } from 'undici'
import { AnthropicAnswer } from './anthropic-answer.ts'
import { anthropicRequest } from './anthropic-wire.ts'
import { type CallPolicy, defaultCallPolicy, withRetries } from './call-policy.ts'
import {
  type EmbeddingAnswer,
  type ModelAnswer,
  ModelError,
  type ModelProvider,
  type ModelRequest,
} from './provider-port.ts'
import { openAgent, UpstreamCall } from './upstream-call.ts'
import { objectOf } from './wire.ts'

/** Where and how to reach Anthropic. */
export interface AnthropicOptions {
  readonly apiKey: string
  /** Anthropic's own when absent. */
  readonly baseUrl?: string
  readonly policy?: Partial<CallPolicy>
  /** Instead of connections of its own: for addresses that callers named, which only the guard may connect to. It stays open. */
  readonly dispatcher?: Dispatcher
}

const ownBaseUrl = 'https://api.anthropic.com'

/** Anthropic's Messages, through its SDK, whose retries and limits are off: ours hold for every provider alike. */
export class AnthropicProvider implements ModelProvider {
  readonly id = 'anthropic'
  readonly #client: Anthropic
  readonly #agent: Dispatcher
  readonly #isOwn: boolean
  readonly #policy: CallPolicy

  constructor(options: AnthropicOptions) {
    this.#policy = { ...defaultCallPolicy, ...options.policy }
    this.#agent = options.dispatcher ?? openAgent(this.#policy)
    this.#isOwn = options.dispatcher === undefined
    this.#client = new Anthropic({
      apiKey: options.apiKey,
      baseURL: options.baseUrl ?? ownBaseUrl,
      webhookKey: null,
      maxRetries: 0,
      openTelemetry: false,
      logLevel: 'off',
    })
  }

  async stream(request: ModelRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    const body = anthropicRequest(request)
    return await withRetries(this.#policy, signal, () => this.#attempt(request, body, onDelta, signal))
  }

  /** @throws {ModelError} always: Anthropic offers no embeddings. */
  async embed(): Promise<EmbeddingAnswer> {
    throw new ModelError('model_not_found', 'Anthropic offers no embedding models.')
  }

  async close(): Promise<void> {
    if (this.#isOwn) await this.#agent.destroy()
  }

  async #attempt(
    request: ModelRequest,
    body: Anthropic.MessageCreateParamsStreaming,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const call = new UpstreamCall(this.#agent, this.#policy, signal)
    const answer = new AnthropicAnswer(request.model, (text) => {
      if (!call.ended) onDelta(text)
    })
    try {
      const client = this.#client.withOptions({ fetch: call.fetch })
      const headers = { 'idempotency-key': request.idempotencyKey }
      for await (const event of await client.messages.create(body, { signal: call.signal, headers })) {
        if (call.ended) break
        answer.push(event)
      }
      if (call.ended) throw call.failureOf(undefined)
      return answer.finish()
    } catch (thrown) {
      if (thrown instanceof APIError && isObjectError(thrown)) throw call.streamed(objectOf(thrown.error).error)
      throw call.failureOf(thrown)
    } finally {
      call.close()
    }
  }
}

/** An `error` event in the stream: the SDK throws it without a status. */
const isObjectError = (error: APIError): boolean =>
  error.status === undefined && objectOf(error.error).error !== undefined
