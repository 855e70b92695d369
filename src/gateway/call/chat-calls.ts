import type { WireObject } from '#outgoing/wire.ts'
import type { Charge } from './accounting/charge.ts'
import type { Caller } from './caller.ts'
import type { ChatFormat } from './chat-format.ts'
import type { Route } from './routes.ts'

/**
 * The request to a model, in the one form that everything is turned into and out of: the body of OpenAI's chat
 * completions (`model`, `messages`, `tools`, …), as parsed; also `models`, the fallbacks in order.
 */
export type ChatBody = WireObject

/** One chat request of whatever form. */
export interface ChatCall {
  readonly caller: Caller
  /** Operation id, for the log. */
  readonly operation: string
  readonly need: 'chat' | 'vision'
  readonly body: ChatBody
  /** Aborts when the caller is gone: upstream is cancelled within 100 ms. */
  readonly signal: AbortSignal
  /** A format of its own for some routes, null for the one that the route has. @throws {ServiceError} for a route that cannot serve it. */
  readonly formatFor?: (route: Route) => ChatFormat | null
}

/** How a call ended. */
export interface ChatSummary extends Charge {
  readonly route: Route
  /** The model as the provider named it in its answer. */
  readonly model: string
  readonly finishReason: string | null
  /** Headers for the answer: `x-provider`, limits. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A whole answer: `completion` is OpenAI's `chat.completion` document. */
export interface ChatOutcome extends ChatSummary {
  readonly completion: WireObject
}

/** Receives a streamed answer in order. Either `end` or `fail` comes, once, unless the signal aborts first. */
export interface ChatListener {
  /** The provider began to answer; headers can be sent. */
  begin(about: Pick<ChatSummary, 'route' | 'headers'>): void
  /** One `chat.completion.chunk` of OpenAI's form. @returns false when the reader is slow: no more until `resume`. */
  chunk(chunk: WireObject): boolean
  /** The answer is whole. */
  end(summary: ChatSummary): void
  /** It broke, after `begin` or before. Never a clean end. */
  fail(error: Error): void
}

/** The writer's side of a streamed answer. */
export interface ChatControl {
  resume(): void
}

/** Chat with any model: routing, limits, redaction, retries, fallbacks, metering and log, the same for every form. */
export interface ChatCalls {
  /** @throws {ServiceError} `model_not_found`, `rate_limit_exceeded`, `provider_…`. {ModelError} never gets out. */
  complete(call: ChatCall): Promise<ChatOutcome>
  /** Refusals come by `fail` too. */
  stream(call: ChatCall, listener: ChatListener): ChatControl
}
