import type { IncomingMessage } from 'node:http'
import type { BodyPace } from '../body-pace.ts'
import type { BodyOptions, HttpRequest } from '../http-port.ts'
import { RequestBody } from '../request-body.ts'

export class NodeHttpRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly remoteAddress: string
  readonly #message: IncomingMessage
  readonly #body: RequestBody

  constructor(message: IncomingMessage, pace?: BodyPace) {
    const url = message.url ?? '/'
    const cut = url.indexOf('?')
    this.method = message.method ?? 'GET'
    this.path = cut < 0 ? url : url.slice(0, cut)
    this.query = cut < 0 ? '' : url.slice(cut + 1)
    this.remoteAddress = message.socket.remoteAddress ?? ''
    this.#message = message
    this.#body = new RequestBody(message, pace)
    message.on('data', (part: Buffer) => this.#body.push(part))
    message.on('end', () => this.#body.finish())
    message.on('close', () => this.#body.lose())
    message.on('error', () => this.#body.lose())
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  body(maxBytes: number, options?: BodyOptions): Promise<Buffer> {
    return this.#body.read(maxBytes, Number(this.header('content-length') ?? 0), options)
  }

  /** Whether the connection closes after the answer, because the rest of a slow body may never arrive. */
  get isLast(): boolean {
    return this.#body.isTooSlow
  }

  /** Called before the answer is sent: the rest of the body is discarded. */
  drop(): void {
    this.#body.drop()
  }
}
