import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { usageOf } from '../call/accounting/openai-usage.ts'
import type { FormatRequest } from '../call/chat-format.ts'
import { refused, streamedFailure } from '../call/failure.ts'
import { ModelError } from '../call/provider-port.ts'
import { completionOf } from '../providers/completion-of.ts'
import type { StreamEnd } from './answer-reader.ts'
import { OpenAiDecoder } from './openai-decoder.ts'

/** A whole answer, read. */
export interface Whole extends StreamEnd {
  /** OpenAI's `chat.completion`. */
  readonly completion: WireObject
  /** It was put together here out of a stream. */
  readonly gathered?: true
}

/** A stream of events, which some servers answer whatever is requested. */
const eventStream = /^\uFEFF?\s*(?:data|event|id|retry)?:/

/** Bytes of a whole answer; a sender that goes on is broken or hostile. */
export const maxWholeBytes = 32 * 1024 * 1024
/** The same where it has to be read at once. */
export const maxBytesAtOnce = 8 * 1024 * 1024

/**
 * @param json what its bytes say as JSON; undefined for none.
 * @throws {AttemptFailed} for what is no answer of the format, and for an error with a good status.
 */
export function readWhole(bytes: Buffer, json: unknown, format: FormatRequest | null): Whole {
  if (json === undefined && bytes.length <= maxBytesAtOnce && eventStream.test(bytes.toString('utf8', 0, 64)))
    return gathered(bytes, format)
  if (format !== null) return format.answer(json)
  if (!isObject(json)) throw noAnswer()
  if (isObject(json.error)) throw streamedFailure(json.error)
  if (!Array.isArray(json.choices)) throw noAnswer()
  return {
    completion: json,
    model: textOf(json.model),
    usage: isObject(json.usage) ? usageOf(json.usage) : null,
    finishReason: textOf(objectOf(arrayOf(json.choices)[0]).finish_reason),
  }
}

const gathered = (bytes: Buffer, format: FormatRequest | null): Whole => {
  const decoder = format?.decoder() ?? new OpenAiDecoder()
  const first = decoder.push(bytes)
  const { chunks, end } = decoder.finish()
  return { ...end, completion: completionOf([...first, ...chunks]), gathered: true }
}

const noAnswer = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))
