import type { BytesResult } from '#actors/call/use-cases.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import {
  type AnswerHeaders,
  type BodyWriter,
  eventStream,
  type KeepAlive,
  PushedBody,
  streamHeaders,
} from '../call/streaming/pushed-body.ts'
import type { RunListener } from './chat-run.ts'
import type { ChatHandle } from './chats.ts'

/** Receives the beginning of the answer, or the error in its place. */
export interface Opening {
  open(answer: BytesResult): void
  refuse(error: Error): void
  /** How an error looks inside a stream. */
  shown(error: Error): object
}

const done = Buffer.from('data: [DONE]\n\n')

/**
 * A streamed chat completion on its way to the caller: frames as the provider wrote them, or made of chunks. What goes
 * wrong after its beginning is a frame with an error, and the connection is cut: never a clean end.
 */
export class CompletionStream implements RunListener, BodyWriter {
  readonly takesFrames = true
  readonly #opening: Opening
  readonly #headers: AnswerHeaders
  readonly #body: PushedBody
  #handle: ChatHandle | null = null

  /** @param headers beside those that every answer has. */
  constructor(opening: Opening, keepAlive: KeepAlive, headers: AnswerHeaders) {
    this.#opening = opening
    this.#headers = headers
    this.#body = new PushedBody(this, keepAlive)
  }

  /** The run that is paused when the reader is slow, and cancelled when it is gone. */
  control(handle: ChatHandle): void {
    this.#handle = handle
  }

  begin({ headers }: Pick<ChatSummary, 'headers'>): void {
    this.#body.open(headers)
  }

  frames(bytes: Buffer): boolean {
    return this.#body.write(bytes)
  }

  chunk(chunk: WireObject): boolean {
    return this.#body.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }

  whole(): void {}

  end(): void {
    this.#body.write(done)
    this.#body.end()
  }

  fail(error: Error): void {
    if (this.#body.isOpen) {
      this.#body.write(`data: ${JSON.stringify(this.#opening.shown(error))}\n\n`)
      this.#body.abort()
      return
    }
    this.#body.close()
    this.#opening.refuse(error)
  }

  open(headers: AnswerHeaders): void {
    const all = [...streamHeaders, ...headers, ...this.#headers]
    this.#opening.open({ contentType: eventStream, bytes: this.#body, headers: all })
  }

  resume(): void {
    this.#handle?.resume()
  }

  /** The reader is gone, before the answer began or after. */
  gone(): void {
    this.#body.close()
    this.#handle?.cancel()
  }
}
