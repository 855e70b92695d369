import type { ApiAnswer } from '#src/tool-server/tool-result.ts'
import type { BodyWriter, Headers, HttpResponse } from '../http/http-port.ts'

/** Collects the answer of an operation that this process calls itself. */
export class InnerResponse implements HttpResponse {
  readonly #onPart: ((part: Uint8Array) => void) | undefined
  readonly #answered = Promise.withResolvers<ApiAnswer>()
  readonly #parts: Buffer[] = []
  #begun = false
  #closed = false
  #onClose: () => void = () => {}

  /** @param onPart receives the parts of a streamed answer as they are written */
  constructor(onPart?: (part: Uint8Array) => void) {
    this.#onPart = onPart
  }

  /** The whole answer. Rejects when it is aborted. */
  get answer(): Promise<ApiAnswer> {
    return this.#answered.promise
  }

  get begun(): boolean {
    return this.#begun
  }

  get closed(): boolean {
    return this.#closed
  }

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    if (this.#begun) return
    this.#begun = true
    this.#end(status, headers, Buffer.from(body).toString('utf8'))
  }

  stream(status: number, headers: Headers): BodyWriter {
    this.#begun = true
    const take = (part: string | Uint8Array): void => {
      const bytes = Buffer.from(part)
      this.#parts.push(bytes)
      this.#onPart?.(bytes)
    }
    return {
      bufferedBytes: 0,
      write: (part) => {
        take(part)
        return true
      },
      onDrain: () => {},
      end: (part) => {
        if (part !== undefined) take(part)
        this.#end(status, headers, Buffer.concat(this.#parts).toString('utf8'))
      },
      abort: () => this.fail(),
    }
  }

  fail(): void {
    if (this.#closed) return
    this.#closed = true
    this.#answered.reject(new Error('the answer was broken off'))
  }

  /** Called when the caller has disconnected. */
  abandon(): void {
    if (this.#closed) return
    this.fail()
    this.#onClose()
  }

  onOver(listener: () => void): void {
    void this.answer.then(listener, listener)
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  #end(status: number, headers: Headers, body: string): void {
    if (this.#closed) return
    this.#closed = true
    const [, contentType = ''] = headers.find(([name]) => name === 'content-type') ?? []
    this.#answered.resolve({ status, contentType, body })
  }
}
