import { SseDecoder } from '#outgoing/sse-decoder.ts'
import { isObject, parseJson, type WireObject } from '#outgoing/wire.ts'
import type { AnswerEnd, ChatDecoder, FormatAnswer } from '../call/chat-format.ts'
import { AttemptFailed, streamBroken } from '../call/failure.ts'
import { completionOf } from './completion-of.ts'

/** Translates a provider's events, one JSON object each, into OpenAI's chunks. */
export interface EventReader {
  /** @throws {AttemptFailed} on an error object. */
  read(event: WireObject): readonly WireObject[]
  /** Whether the response has ended; later events are ignored. */
  readonly done: boolean
  /** @throws {AttemptFailed} when the response is incomplete. */
  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd }
}

/** Decodes `text/event-stream` bytes and passes each event to a reader. */
export class EventDecoder implements ChatDecoder {
  readonly #reader: EventReader
  readonly #sse: SseDecoder
  #chunks: WireObject[] = []

  constructor(reader: EventReader) {
    this.#reader = reader
    this.#sse = new SseDecoder((data) => this.#event(data))
  }

  get done(): boolean {
    return this.#reader.done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    if (this.#reader.done) return []
    this.#chunks = []
    try {
      this.#sse.push(bytes)
    } catch (thrown) {
      throw thrown instanceof AttemptFailed ? thrown : streamBroken()
    }
    return this.#chunks
  }

  finish(): ReturnType<ChatDecoder['finish']> {
    return this.#reader.finish()
  }

  #event(data: string): void {
    if (this.#reader.done) return
    const event = parseJson(data)
    if (!isObject(event)) throw streamBroken()
    this.#chunks.push(...this.#reader.read(event))
  }
}

/** Reads a non-streamed response as the events it would have been streamed in. @throws {AttemptFailed} */
export function wholeAnswer(reader: EventReader, events: readonly WireObject[]): FormatAnswer {
  const chunks = events.flatMap((event) => reader.read(event))
  const { chunks: rest, end } = reader.finish()
  return { ...end, completion: completionOf([...chunks, ...rest]) }
}
