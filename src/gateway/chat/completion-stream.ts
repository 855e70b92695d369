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
import type { RunListener } from './chat-run-request.ts'
import type { ChatHandle } from './chats.ts'

/** Receives the beginning of the answer, or the error that replaces it. */
export interface Opening {
  open(answer: BytesResult): void
  refuse(error: Error): void
  /** Formats an error inside a stream. */
  shown(error: Error): object
}

const done = Buffer.from('data: [DONE]\n\n')

/**
 * A streamed chat completion for the caller: frames as the provider sent them, or built from chunks. A failure after
 * the beginning is sent as a frame with an error, and the connection is cut, so that the stream never looks complete.
 */
export class CompletionStream implements RunListener, BodyWriter {
  readonly takesFrames = true
  readonly #opening: Opening
  readonly #headers: AnswerHeaders
  readonly #body: PushedBody
  #handle: ChatHandle | null = null

  /** @param headers in addition to those of every answer. */
  constructor(opening: Opening, keepAlive: KeepAlive, headers: AnswerHeaders) {
    this.#opening = opening
    this.#headers = headers
    this.#body = new PushedBody(this, keepAlive)
  }

  /** Sets the run that is paused while the reader is slow, and cancelled when the reader disconnects. */
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

  /** Called when the reader has disconnected, before or after the answer began. */
  gone(): void {
    this.#body.close()
    this.#handle?.cancel()
  }
}
