import { type Operation, streams } from '#specs/dsl/declare.ts'
import type { BodyWriter, Headers, HttpRequest, HttpResponse } from '../http/http-port.ts'
import { asStreamed } from './schema.ts'

/** Whether this request calls for a streamed answer, as far as its own content shows. */
export const wantsStream = (
  operation: Operation,
  request: HttpRequest,
  { query, body }: { readonly query: unknown; readonly body: unknown },
): boolean => {
  if (operation.answer.kind === 'events') return true
  if (!streams(operation)) return false
  return (
    asStreamed(body)?.stream === true ||
    asStreamed(query)?.stream === true ||
    request.header('accept')?.trim() === 'text/event-stream'
  )
}

/** A response that releases a permit when it has ended, cleanly or not. */
export class LimitedResponse implements HttpResponse {
  readonly #response: HttpResponse
  readonly #release: () => void
  #listener: (() => void) | null = null

  constructor(response: HttpResponse, release: () => void) {
    this.#response = response
    this.#release = release
    response.onClose(() => this.#closed())
    if (response.closed) release()
  }

  get begun(): boolean {
    return this.#response.begun
  }

  get closed(): boolean {
    return this.#response.closed
  }

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    this.#release()
    this.#response.send(status, headers, body)
  }

  stream(status: number, headers: Headers): BodyWriter {
    return new ReleasingWriter(this.#response.stream(status, headers), this.#release)
  }

  fail(): void {
    this.#release()
    this.#response.fail()
  }

  onOver(listener: () => void): void {
    this.#response.onOver(listener)
  }

  onClose(listener: () => void): void {
    this.#listener = listener
  }

  /** Stops what makes the answer, as if the peer had disconnected. */
  stop(): void {
    this.#closed()
  }

  #closed(): void {
    this.#release()
    this.#listener?.()
  }
}

/** The body of an answer that holds a permit. */
class ReleasingWriter implements BodyWriter {
  readonly #writer: BodyWriter
  readonly #release: () => void

  constructor(writer: BodyWriter, release: () => void) {
    this.#writer = writer
    this.#release = release
  }

  get bufferedBytes(): number {
    return this.#writer.bufferedBytes
  }

  write(part: string | Uint8Array): boolean {
    return this.#writer.write(part)
  }

  onDrain(listener: () => void): void {
    this.#writer.onDrain(listener)
  }

  end(part?: string | Uint8Array): void {
    this.#release()
    this.#writer.end(part)
  }

  abort(): void {
    this.#release()
    this.#writer.abort()
  }
}
