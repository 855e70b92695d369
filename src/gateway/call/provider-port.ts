import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** One tool that a model may call. `parameters` is a JSON Schema object. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly parameters: object
}

/** A tool call that a model requested. `arguments` is the raw JSON text as the model wrote it; it may be malformed. */
export interface ModelToolCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  /**
   * Opaque data of the provider (a signature of the model's reasoning) that must be sent back with this call in later
   * requests. Keep it with the call; never show it. Without it, some models give worse answers.
   */
  readonly opaque?: string
}

/** One message of a conversation, in the gateway's own form. Immutable, so conversions may be cached by identity. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  /** `parts` are the text and the images of its user, in the form of a chat completion once `ModelRequest.hasMedia`. */
  | { readonly role: 'user'; readonly content: string; readonly parts?: readonly WireObject[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly content: string }

export interface ModelRequest {
  readonly model: string
  /** System messages that are sent before `messages`. */
  readonly instructions?: readonly string[]
  /** May be appended to between calls but is otherwise never changed, so its encoding may be cached by identity. */
  readonly messages: readonly ModelMessage[]
  /** Set when messages have parts. */
  readonly hasMedia?: true
  readonly tools: readonly ModelTool[]
  readonly temperature?: number
  readonly maxTokens?: number
  /** Further fields of a chat completion (`top_p`, `tool_choice`, `models` …), passed through unchanged. */
  readonly more?: Readonly<Record<string, unknown>>
  /** Same on every retry of one call; sent upstream where the provider honours it. */
  readonly idempotencyKey: string
}

/** A model's complete answer. `text` is all deltas joined. */
export interface ModelAnswer {
  readonly model: string
  readonly text: string
  readonly toolCalls: readonly ModelToolCall[]
  readonly usage: TokenUsage
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter'
}

/** Why a model call failed: an error code of `specs/errors/errors.ts`. */
export type ModelErrorCode =
  | 'provider_not_configured'
  | 'model_not_found'
  | 'provider_rate_limited'
  | 'provider_timeout'
  | 'provider_unavailable'
  | 'provider_error'
  | 'provider_stream_broken'
  | 'context_length_exceeded'
  | 'content_policy_violation'
  | 'bad_request'
  | 'request_loop'
  | 'overloaded'
  | 'cancelled'

/**
 * A failed model call, after the adapter's own retries. Its message is safe to show: it has no key, host or driver
 * text.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  readonly retryAfterMs: number | undefined
  /** The field of the request that the provider rejected. */
  readonly param: string | undefined
  constructor(
    code: ModelErrorCode,
    message: string,
    { retryAfterMs, param }: { readonly retryAfterMs?: number | undefined; readonly param?: string | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.param = param
  }
}
