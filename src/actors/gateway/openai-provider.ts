import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import { Pool } from 'undici'
import { type CallPolicy, defaultCallPolicy, withRetries } from './call-policy.ts'
import { type AttemptFailed, cancelled, statusFailure, timedOut, unreachable } from './failure.ts'
import { modelIdsOf, OpenAiAnswer } from './openai-answer.ts'
import { OpenAiCall } from './openai-call.ts'
import { encodeChatRequest, type OpenAiDialect } from './openai-wire.ts'
import {
  type EmbeddingAnswer,
  type EmbeddingRequest,
  type ModelAnswer,
  ModelError,
  type ModelProvider,
  type ModelRequest,
} from './provider-port.ts'

/** Where and how to reach a server that speaks OpenAI's wire format. */
export interface OpenAiOptions {
  readonly id: string
  /** Up to and with `/v1`. */
  readonly baseUrl: string
  /** Absent for servers that want none. */
  readonly apiKey?: string
  readonly dialect: OpenAiDialect
  readonly policy?: Partial<CallPolicy>
  /** Connections at once; a streaming answer holds one. Further calls wait. */
  readonly maxConnections?: number
}

const defaultMaxConnections = 1024

/**
 * OpenAI, and whatever speaks its wire format.
 *
 * Chat goes over undici's dispatcher with a decoder of our own; the SDK serves what is not hot
 * (specs/decisions/0003-openai-hot-path.md has the measurements).
 */
export class OpenAiProvider implements ModelProvider {
  readonly id: string
  readonly #pool: Pool
  readonly #path: string
  readonly #authorization: Readonly<Record<string, string>>
  readonly #dialect: OpenAiDialect
  readonly #policy: CallPolicy
  readonly #sdk: OpenAI

  constructor(options: OpenAiOptions) {
    const url = new URL(options.baseUrl)
    this.id = options.id
    this.#policy = { ...defaultCallPolicy, ...options.policy }
    this.#dialect = options.dialect
    this.#path = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
    this.#authorization = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }
    this.#pool = openPool(url.origin, options.maxConnections ?? defaultMaxConnections, this.#policy)
    this.#sdk = openSdk(options, this.#policy)
  }

  async stream(request: ModelRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    const body = encodeChatRequest(request, this.#dialect)
    return await withRetries(this.#policy, signal, () => this.#attempt(request, body, onDelta, signal))
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingAnswer> {
    return await withRetries(this.#policy, signal, async () => {
      const input = [...request.input]
      const answer = await this.#sdk.embeddings
        .create({ model: request.model, input, encoding_format: 'float' }, { signal })
        .catch((error: unknown) => {
          throw sdkFailure(error)
        })
      const rows = [...answer.data].sort((a, b) => a.index - b.index)
      if (rows.length !== input.length) throw new ModelError('provider_error', 'The provider left out embeddings.')
      const vectors = rows.map((row) => row.embedding)
      return { model: answer.model, vectors, inputTokens: answer.usage?.prompt_tokens ?? 0 }
    })
  }

  /** Ids of the models that the server says it has. @throws {ModelError} */
  async listModels(signal: AbortSignal): Promise<string[]> {
    return await withRetries(this.#policy, signal, async () => {
      const page = await this.#sdk.models.list({ signal }).catch((error: unknown) => {
        throw sdkFailure(error)
      })
      return modelIdsOf({ data: page.data })
    })
  }

  /** Ends all connections; calls in flight fail. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #attempt(
    request: ModelRequest,
    body: string,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    if (signal.aborted) return Promise.reject(cancelled())
    return new Promise((resolve, reject) => {
      const answer = new OpenAiAnswer(request, (text) => {
        if (!signal.aborted) onDelta(text)
      })
      const call = new OpenAiCall(answer, this.#policy, signal, resolve, reject)
      const headers = {
        ...this.#authorization,
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'idempotency-key': request.idempotencyKey,
      }
      this.#pool.dispatch({ path: this.#path, method: 'POST', headers, body }, call)
    })
  }
}

/** HTTP/1.1 only: there an abort closes the socket, which every server notices at once. Time limits are the call's own. */
function openPool(origin: string, connections: number, policy: CallPolicy): Pool {
  const connect = { timeout: policy.connectTimeoutMs }
  return new Pool(origin, { connections, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect })
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
