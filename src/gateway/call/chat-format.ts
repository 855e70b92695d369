import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { ChatBody } from './chat-calls.ts'
import type { AttemptFailed, ErrorAnswer } from './failure.ts'
import type { Route } from './routes.ts'

/** Result of an answer in a provider's format. */
export interface AnswerEnd {
  /** The model as named by the provider; the requested name when the provider gives none. */
  readonly model: string
  /** null when the provider reported no usage; the caller may estimate it. */
  readonly usage: TokenUsage | null
  /** One of OpenAI's values: `stop`, `length`, `tool_calls`, `content_filter`. */
  readonly finishReason: string
}

/** A non-streamed answer: `completion` is an OpenAI `chat.completion` document. */
export interface FormatAnswer extends AnswerEnd {
  readonly completion: WireObject
}

/** Converts the bytes of one attempt's stream to OpenAI chunks. Must not be used after it threw. */
export interface ChatDecoder {
  /**
   * Returns the `chat.completion.chunk` documents that these bytes complete, in order; often none. Bytes may be split
   * anywhere. The first chunk has `role`; the last one has `finish_reason`, and a chunk with `usage` and without
   * choices follows it, whether or not the caller requested usage: the code that writes to the caller drops it.
   * @throws {AttemptFailed} on an error object in the stream, and on bytes that do not follow the format.
   */
  push(bytes: Uint8Array): readonly WireObject[]
  /** Text of the first choice that the bytes of the last `push` had before its chunks; absent: all text is in chunks. */
  readonly words?: string
  /**
   * Whether the provider has signalled the end of its answer. Later bytes are ignored, and the end of the connection is
   * not awaited.
   */
  readonly done: boolean
  /**
   * Called when the bytes have ended. Returns the chunks that were held back, as in formats without an end mark.
   * @throws {AttemptFailed} `provider_stream_broken` when the answer is incomplete.
   */
  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd }
}

/** One chat request in a provider's format, with the parser for its answer. Immutable: every attempt sends it again. */
export interface FormatRequest {
  /** Path appended to the route's base URL; begins with a slash, may have a query. */
  readonly path: string
  /** Headers by lower-case name, including the API key and the content type. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody
  /**
   * Parses a non-streamed answer.
   * @throws {AttemptFailed} when it does not follow the format.
   * @param json the parsed body of a 200.
   */
  answer(json: unknown): FormatAnswer
  decoder(): ChatDecoder
}

/** Converts between OpenAI's chat format and a provider's. Pure. */
export interface ChatFormat {
  /**
   * @param body its `model` is ignored, because `route.model` is called; so is its `stream`.
   * @throws {ServiceError} `invalid_field` with `param` (`messages[2].content[0]`) for values that the format cannot
   * express.
   */
  request(body: ChatBody, route: Route, stream: boolean): FormatRequest
  /** Maps an answer with a status other than 200 to a failure. @param now in ms. */
  failure(answer: ErrorAnswer, now: number): AttemptFailed
}
