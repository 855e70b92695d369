import type { WireObject } from '#outgoing/wire.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** Result of a streamed answer. */
export interface StreamEnd {
  /** '' when no chunk named a model. */
  readonly model: string
  /** null when the provider reported no usage. */
  readonly usage: TokenUsage | null
  readonly finishReason: string
}

/** Converts the bytes of one attempt's stream for its listener. Must not be used after it threw. */
export interface AnswerReader {
  /** @returns false when the listener wants to pause. @throws {AttemptFailed} */
  push(bytes: Buffer): boolean
  /** Whether the provider has signalled the end of its answer. */
  readonly done: boolean
  /** Output tokens so far, estimated from the length. */
  readonly tokensSoFar: number
  /** @throws {AttemptFailed} `provider_stream_broken` when the answer is incomplete. */
  finish(): StreamEnd
}

/**
 * Receives a streamed answer, as frames in OpenAI's format or as chunks. Each method returns false to pause the stream.
 */
export interface AnswerListener {
  /** Receives complete frames, unchanged and without `[DONE]`. */
  frames(bytes: Buffer): boolean
  chunk(chunk: WireObject): boolean
  /** Receives text of the first choice in place of chunks that have nothing else. Absent: such chunks are passed on. */
  words?(text: string): boolean
}
