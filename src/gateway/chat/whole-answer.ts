import type { WireObject } from '#outgoing/wire.ts'
import type { FormatRequest } from '../call/chat-format.ts'
import { completionOf } from '../providers/completion-of.ts'
import { completionIn } from '../providers/openai/openai-answer.ts'
import type { StreamEnd } from './answer-reader.ts'
import { OpenAiDecoder } from './openai-decoder.ts'

/** A parsed non-streamed answer. */
export interface Whole extends StreamEnd {
  /** OpenAI's `chat.completion` document. */
  readonly completion: WireObject
  /** Set when it was assembled from a stream. */
  readonly gathered?: true
}

/** Matches the beginning of an event stream, which some servers send whatever was requested. */
const eventStream = /^\uFEFF?\s*(?:data|event|id|retry)?:/

/** Also of frames with their lengths, as Amazon's, whose first byte is 0. */
const isStream = (bytes: Buffer): boolean => bytes[0] === 0 || eventStream.test(bytes.toString('utf8', 0, 64))

/** Maximum size of a non-streamed answer in bytes; a sender that exceeds it is broken or hostile. */
export const maxWholeBytes = 32 * 1024 * 1024
/** The same limit for an answer that has to be parsed synchronously. */
export const maxBytesAtOnce = 8 * 1024 * 1024

/**
 * Parses a non-streamed answer.
 *
 * @param json the bytes parsed as JSON; undefined when they are not JSON.
 * @throws {AttemptFailed} when it is not an answer of the format, and for an error object with a success status.
 */
export function readWhole(bytes: Buffer, json: unknown, format: FormatRequest | null): Whole {
  if (json === undefined && bytes.length <= maxBytesAtOnce && isStream(bytes)) return gathered(bytes, format)
  return format === null ? completionIn(json) : format.answer(json)
}

const gathered = (bytes: Buffer, format: FormatRequest | null): Whole => {
  const decoder = format?.decoder() ?? new OpenAiDecoder()
  const first = decoder.push(bytes)
  const { chunks, end } = decoder.finish()
  return { ...end, completion: completionOf([...first, ...chunks]), gathered: true }
}
