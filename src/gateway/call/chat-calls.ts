import type { WireObject } from '#outgoing/wire.ts'
import type { Charge } from './accounting/charge.ts'
import type { Caller } from './caller.ts'
import type { ChatFormat } from './chat-format.ts'
import type { Route } from './routes.ts'
import type { AppliedRules } from './rules/applied-rules.ts'

/**
 * A chat request in the gateway's canonical form, to and from which all others are converted: the parsed body of an
 * OpenAI chat completion (`model`, `messages`, `tools`, …), with the fallbacks in order in `models`.
 */
export type ChatBody = WireObject

/** One chat request, from any API. */
export interface ChatCall {
  readonly caller: Caller
  /** Operation id, for the log. */
  readonly operation: string
  readonly need: 'chat' | 'vision'
  readonly body: ChatBody
  /** Aborts when the caller disconnects; the upstream request is then cancelled within 100 ms. */
  readonly signal: AbortSignal
  /** Whether the guardrails of the project are left out: for the calls that they make themselves. */
  readonly unguarded?: true
  /**
   * For the reuse of stored answers: `never` for a call that depends on more than its body, such as a search; the user whose
   * memories the body has. Absent: by the body.
   */
  readonly reuse?: 'never' | { readonly user: string }
  /** `metadata` of the request, for rules of the routing policy, where the body has none. */
  readonly metadata?: unknown
  /** The rules of the routing policy that apply; absent: they are not known yet. */
  readonly rules?: AppliedRules
  /**
   * Returns a different format for some routes; null for the route's own format.
   * @throws {ServiceError} for a route that cannot serve the call.
   */
  readonly formatFor?: (route: Route) => ChatFormat | null
  /** Called once with the cost in USD when the call has ended, also of one that was cancelled; null: unknown. */
  readonly onCost?: (usd: string | null) => void
}

/** Result of a chat call. */
export interface ChatSummary extends Charge {
  readonly route: Route
  /** The model as named by the provider in its answer. */
  readonly model: string
  readonly finishReason: string | null
  /** Headers for the answer, such as `x-provider` and those of limits. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A non-streamed answer: `completion` is an OpenAI `chat.completion` document. */
export interface ChatOutcome extends ChatSummary {
  readonly completion: WireObject
}

/** Receives a streamed answer in order. Either `end` or `fail` is called, once, unless the signal aborts first. */
export interface ChatListener {
  /** The provider has begun to answer; headers can be sent. */
  begin(about: Pick<ChatSummary, 'route' | 'headers'>): void
  /**
   * Receives one OpenAI `chat.completion.chunk`.
   * @returns false when the reader is slow: the stream pauses until `resume`.
   */
  chunk(chunk: WireObject): boolean
  /** The answer is complete. */
  end(summary: ChatSummary): void
  /** The answer failed, before or after `begin`. The output must not end as if it were complete. */
  fail(error: Error): void
}

/** Flow control for the consumer of a streamed answer. */
export interface ChatControl {
  resume(): void
}

/**
 * Chat with any model: routing, limits, redaction, retries, fallbacks, metering and logging, the same for every API.
 */
export interface ChatCalls {
  /** @throws {ServiceError} `model_not_found`, `rate_limit_exceeded`, `provider_…`. Never throws {ModelError}. */
  complete(call: ChatCall): Promise<ChatOutcome>
  /** All errors are delivered by `fail`, including refusals before the call is made. */
  stream(call: ChatCall, listener: ChatListener): ChatControl
}
