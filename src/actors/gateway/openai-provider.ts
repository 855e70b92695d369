import { type Dispatcher, Pool } from 'undici'
import { type CallPolicy, defaultCallPolicy, withRetries } from './call-policy.ts'
import { cancelled } from './failure.ts'
import { OpenAiAnswer } from './openai-answer.ts'
import { OpenAiCall } from './openai-call.ts'
import type { OpenAiSdk } from './openai-sdk.ts'
import { encodeChatRequest, type OpenAiDialect } from './openai-wire.ts'
import type { EmbeddingAnswer, EmbeddingRequest, ModelAnswer, ModelProvider, ModelRequest } from './provider-port.ts'

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
  /** Instead of connections of its own: for addresses that callers named, which only the guard may connect to. It stays open. */
  readonly dispatcher?: Dispatcher
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
  readonly #dispatcher: Dispatcher
  readonly #isOwn: boolean
  readonly #origin: string
  readonly #path: string
  readonly #authorization: Readonly<Record<string, string>>
  readonly #dialect: OpenAiDialect
  readonly #policy: CallPolicy
  readonly #options: OpenAiOptions
  #sdk: Promise<OpenAiSdk> | undefined

  constructor(options: OpenAiOptions) {
    const url = new URL(options.baseUrl)
    this.id = options.id
    this.#policy = { ...defaultCallPolicy, ...options.policy }
    this.#dialect = options.dialect
    this.#path = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
    this.#authorization = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }
    this.#origin = url.origin
    const open = () => openPool(url.origin, options.maxConnections ?? defaultMaxConnections, this.#policy)
    this.#dispatcher = options.dispatcher ?? open()
    this.#isOwn = options.dispatcher === undefined
    this.#options = options
  }

  async stream(request: ModelRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    const body = encodeChatRequest(request, this.#dialect)
    return await withRetries(this.#policy, signal, () => this.#attempt(request, body, onDelta, signal))
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingAnswer> {
    const sdk = await this.#openSdk()
    return await withRetries(this.#policy, signal, () => sdk.embed(request, signal))
  }

  /** Ids of the models that the server says it has. @throws {ModelError} */
  async listModels(signal: AbortSignal): Promise<string[]> {
    const sdk = await this.#openSdk()
    return await withRetries(this.#policy, signal, () => sdk.listModels(signal))
  }

  /** Ends all connections; calls in flight fail. */
  async close(): Promise<void> {
    if (this.#isOwn) await this.#dispatcher.destroy()
  }

  /** The SDK is loaded by what needs it first: it costs some 30 MB, and chat does without. */
  #openSdk(): Promise<OpenAiSdk> {
    this.#sdk ??= import('./openai-sdk.ts').then(({ OpenAiSdk }) => new OpenAiSdk(this.#options, this.#policy))
    return this.#sdk
  }

  #attempt(
    request: ModelRequest,
    body: Buffer,
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
      const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
      this.#dispatcher.dispatch(
        { origin: this.#origin, path: this.#path, method: 'POST', headers, body, ...timeouts },
        call,
      )
    })
  }
}

/** HTTP/1.1 only: there an abort closes the socket, which every server notices at once. Time limits are the call's own. */
function openPool(origin: string, connections: number, policy: CallPolicy): Pool {
  const connect = { timeout: policy.connectTimeoutMs }
  return new Pool(origin, { connections, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect })
}
