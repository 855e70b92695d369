import type { ChatDecoder } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { EventReader } from '../event-decoder.ts'
import { EventStreamDecoder, type StreamMessage } from './event-stream.ts'

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
 * Decodes the frames of Bedrock's streams and passes each event to a reader. The reason to stop, and what follows it, is
 * held back until nothing can follow but the end: an exception may come after it.
 */
export class FrameDecoder implements ChatDecoder {
  readonly #frames = new EventStreamDecoder()
  readonly #reader: EventReader
  readonly #eventOf: EventOf
  #held: readonly WireObject[] = []

  constructor(reader: EventReader, eventOf: EventOf) {
    this.#reader = reader
    this.#eventOf = eventOf
  }

  get done(): boolean {
    return this.#reader.done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    const read = this.#frames.push(bytes).flatMap((message) => this.#read(message))
    const chunks = this.#held.length === 0 ? read : [...this.#held, ...read]
    const end = this.done ? -1 : chunks.findIndex(isLast)
    this.#held = end < 0 ? [] : chunks.slice(end)
    return end < 0 ? chunks : chunks.slice(0, end)
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
    return event === null ? [] : this.#reader.read(event)
  }
}

const isLast = ({ choices }: WireObject): boolean =>
  arrayOf(choices).some((choice) => typeof objectOf(choice).finish_reason === 'string')

/** Maps an exception frame of a stream to a failure: whatever came before it, the answer is not whole. */
const exceptionFailure = (name: string, message: unknown) => {
  const code = /throttling/i.test(name) ? 'rate_limit_error' : /unavailable/i.test(name) ? 'unavailable' : name
  return streamedFailure({ code, message })
}
