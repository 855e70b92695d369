import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** How a streamed answer ended. */
export interface StreamEnd {
  /** '' when no chunk named one. */
  readonly model: string
  /** null: the provider counted nothing. */
  readonly usage: TokenUsage | null
  readonly finishReason: string
}

/** Turns the bytes of one attempt's stream into what its listener takes. Not to be used after it threw. */
export interface AnswerReader {
  /** @returns false when the listener wants no more for now. @throws {AttemptFailed} */
  push(bytes: Buffer): boolean
  /** The provider has said that its answer is whole. */
  readonly done: boolean
  /** Tokens that were written so far, by length. */
  readonly tokensSoFar: number
  /** @throws {AttemptFailed} `provider_stream_broken` when the answer is not whole. */
  finish(): StreamEnd
}

/** Receives a streamed answer, as frames of OpenAI's form or as chunks. Each says whether it wants more for now. */
export interface AnswerListener {
  /** Whole frames, as they came, without `[DONE]`. */
  frames(bytes: Buffer): boolean
  chunk(chunk: WireObject): boolean
}
