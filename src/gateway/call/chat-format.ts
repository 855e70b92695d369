import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { ChatBody } from './chat-calls.ts'
import type { AttemptFailed, ErrorAnswer } from './failure.ts'
import type { Route } from './routes.ts'

/** How an answer in another provider's words ended. */
export interface AnswerEnd {
  /** The model as the provider named it; the requested name where the provider names none. */
  readonly model: string
  /** null: the provider counted nothing; the caller may estimate. */
  readonly usage: TokenUsage | null
  /** In OpenAI's words: `stop`, `length`, `tool_calls`, `content_filter`. */
  readonly finishReason: string
}

/** A whole answer: `completion` is OpenAI's `chat.completion` document. */
export interface FormatAnswer extends AnswerEnd {
  readonly completion: WireObject
}

/** Turns the bytes of one attempt's stream into OpenAI's chunks. Not to be used after it threw. */
export interface ChatDecoder {
  /**
   * What the bytes complete, as `chat.completion.chunk` documents in order; often none. Bytes may end anywhere. The first
   * chunk carries `role`; the last has `finish_reason`, and one with `usage` and without choices follows it, whether or
   * not the caller requested usage: the part that writes to the caller leaves it out.
   * @throws {AttemptFailed} on an error object in the stream, and on what is not of the format.
   */
  push(bytes: Uint8Array): readonly WireObject[]
  /** The provider has said that its answer is whole: what follows is of no interest, and no caller waits for the connection's end. */
  readonly done: boolean
  /**
   * The bytes are over: chunks that were kept back for the end, such as those of formats without an end mark.
   * @throws {AttemptFailed} `provider_stream_broken` when the answer is not whole.
   */
  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd }
}

/** One chat request in a provider's words, and how to read what it answers. Immutable: every attempt sends it anew. */
export interface FormatRequest {
  /** What follows the route's base URL; begins with a slash, may have a query. */
  readonly path: string
  /** Lower-case names, the key's and the content type among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody
  /** @throws {AttemptFailed} when it is no answer of the format. @param json the parsed body of a 200. */
  answer(json: unknown): FormatAnswer
  decoder(): ChatDecoder
}

/** A provider's own chat format, to and from OpenAI's. Pure. */
export interface ChatFormat {
  /**
   * @param body `model` in it is not read: `route.model` is called. Nor is `stream`.
   * @throws {ServiceError} `invalid_field` with `param` (`messages[2].content[0]`) for what the format cannot say.
   */
  request(body: ChatBody, route: Route, stream: boolean): FormatRequest
  /** What an answer with another status than 200 means. `now` in ms. */
  failure(answer: ErrorAnswer, now: number): AttemptFailed
}
