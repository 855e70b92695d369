import type { ChatDecoder } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { EventReader } from '../event-decoder.ts'
import { isUsageOnly } from '../openai/openai-chunks.ts'
import { EventStreamDecoder, type StreamMessage } from './event-stream.ts'

/** Maximum number of chunks that are held back: callers can request 128 choices, so a sender of more is broken or hostile. */
const maxHeld = 256

/** Returns the event of a frame; null for a frame without one. @throws {AttemptFailed} */
type EventOf = (message: StreamMessage) => WireObject | null

/** The event of a frame of ConverseStream, which the frame's header names. */
export const converseEvent: EventOf = ({ headers, json }) => {
  if (!isObject(json)) throw streamBroken()
  return { ...json, type: headers[':event-type'] }
}

/** The event of a frame of InvokeModelWithResponseStream: JSON of the model's vendor in base64. */
export const vendorEvent: EventOf = ({ headers, json }) => {
  if (headers[':event-type'] !== 'chunk') return null
  const event = parseJson(Buffer.from(textOf(objectOf(json).bytes), 'base64').toString())
  if (!isObject(event)) throw streamBroken()
  return event
}

/**
 * Decodes the frames of Bedrock's streams and passes each event to a reader. Reasons to stop and the usage are held back until
 * nothing can follow but the end: an exception may come after them.
 */
export class FrameDecoder implements ChatDecoder {
  readonly #frames = new EventStreamDecoder()
  readonly #reader: EventReader
  readonly #eventOf: EventOf
  readonly #held: WireObject[] = []

  constructor(reader: EventReader, eventOf: EventOf) {
    this.#reader = reader
    this.#eventOf = eventOf
  }

  get done(): boolean {
    return this.#reader.done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    const read = this.#frames.push(bytes).flatMap((message) => this.#read(message))
    if (this.#held.length === 0 && !read.some(isLast)) return read
    this.#held.push(...read.filter(isLast))
    if (this.#held.length > maxHeld) throw streamBroken()
    const others = read.filter((chunk) => !isLast(chunk))
    return this.done ? [...others, ...this.#held.splice(0)] : others
  }

  finish(): ReturnType<ChatDecoder['finish']> {
    if (this.#frames.isInside) throw streamBroken()
    const { chunks, end } = this.#reader.finish()
    return { chunks: [...this.#held, ...chunks], end }
  }

  #read(message: StreamMessage): readonly WireObject[] {
    const { headers, json } = message
    if (headers[':message-type'] !== 'event') {
      const name = headers[':exception-type'] ?? headers[':error-code'] ?? 'error'
      throw exceptionFailure(name, headers[':error-message'] ?? objectOf(json).message)
    }
    const event = this.#eventOf(message)
    return event === null || this.done ? [] : this.#reader.read(event)
  }
}

const isLast = (chunk: WireObject): boolean =>
  isUsageOnly(chunk) || arrayOf(chunk.choices).some((choice) => typeof objectOf(choice).finish_reason === 'string')

/** Maps an exception frame of a stream to a failure: whatever came before it, the answer is not whole. */
const exceptionFailure = (name: string, message: unknown) => {
  const code = /throttling/i.test(name) ? 'rate_limit_error' : /unavailable/i.test(name) ? 'unavailable' : name
  return streamedFailure({ code, message })
}
