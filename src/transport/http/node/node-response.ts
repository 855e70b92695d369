import type { ServerResponse } from 'node:http'
import type { BodyPace } from '../body-pace.ts'
import type { Containment } from '../containment.ts'
import type { BodyWriter, Headers, HttpResponse } from '../http-port.ts'
import { mutedWriter } from '../muted-writer.ts'
import { PacedAnswer } from '../paced-answer.ts'
import { checkHeaders, defaultHeaders, isBodiless } from '../response-head.ts'
import type { NodeHttpRequest } from './node-request.ts'

/** Time in ms that a reader may accept no bytes at all. */
const stalledMaxMs = 60_000

/** The server, as seen by its responses. */
export interface NodeResponseOwner {
  /** Whether connections are closed after their answer. */
  readonly closing: boolean
  readonly containment: Containment
  readonly pace: BodyPace
}

/** The answer to one request on node:http. */
export class NodeHttpResponse implements HttpResponse {
  readonly #response: ServerResponse
  readonly #request: NodeHttpRequest
  readonly #owner: NodeResponseOwner
  #closed = false
  #begun = false
  #listener: (() => void) | null = null
  #overListener: (() => void) | null = null
  #isOver = false
  #paced: PacedAnswer | null = null

  constructor(response: ServerResponse, request: NodeHttpRequest, owner: NodeResponseOwner) {
    this.#response = response
    this.#request = request
    this.#owner = owner
    response.on('close', () => this.#gone())
    response.on('error', () => response.destroy())
  }

  get closed(): boolean {
    return this.#closed
  }

  get begun(): boolean {
    return this.#begun
  }

  onClose(listener: () => void): void {
    this.#listener = listener
  }

  onOver(listener: () => void): void {
    if (this.#isOver) listener()
    else this.#overListener = listener
  }

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    checkHeaders(headers)
    if (this.#closed || this.#begun) return
    const bytes = isBodiless(status) ? [] : ['content-length', String(Buffer.byteLength(body))]
    this.#head(status, headers, bytes)
    this.end(isBodiless(status) ? '' : body)
    this.#keepPace(Buffer.byteLength(body))
  }

  /** Watches an answer that the connection has not accepted at once. */
  #keepPace(bytes: number): void {
    if (this.#response.writableLength === 0) return
    this.#paced = new PacedAnswer(this.#owner.pace, {
      accepted: () => bytes - this.#response.writableLength,
      cut: () => this.#response.destroy(),
    })
  }

  stream(status: number, headers: Headers): BodyWriter {
    checkHeaders(headers)
    if (this.#closed || this.#begun) return mutedWriter
    this.#head(status, headers, [])
    if (this.#request.method !== 'HEAD') return new NodeWriter(this.#response, this)
    this.end('')
    return mutedWriter
  }

  end(part: string | Uint8Array): void {
    this.#closed = true
    this.#response.end(part)
    // node:http destroys the connection at this timeout, which any progress resets
    if (this.#response.writableLength > 0) this.#response.socket?.setTimeout(stalledMaxMs)
  }

  fail(): void {
    if (this.#begun || this.#closed) this.#response.destroy()
    else this.send(500, [], '')
  }

  /** Runs a callback of the connection: an exception ends the connection. */
  contain(work: () => void): void {
    this.#owner.containment.run('answer', work, () => this.#response.destroy())
  }

  /** Ends the connection; `gently`: after the buffered bytes are sent, which never happens while a reader is stuck. */
  cut(gently: boolean): void {
    this.#closed = true
    if (gently) this.#response.socket?.setTimeout(stalledMaxMs).destroySoon()
    else this.#response.destroy()
  }

  #head(status: number, headers: Headers, more: string[]): void {
    this.#begun = true
    this.#request.drop()
    const last = this.#owner.closing || this.#request.isLast ? ['connection', 'close'] : []
    this.#response.writeHead(status, [...headers.flat(), ...defaultHeaders(headers).each.flat(), ...more, ...last])
  }

  #gone(): void {
    this.#isOver = true
    this.#paced?.end()
    const over = this.#overListener
    if (over !== null) this.contain(over)
    if (this.#closed) return
    this.#closed = true
    const listener = this.#listener
    if (listener !== null) this.contain(listener)
  }
}

/** A body on node:http, which measures its own buffers. */
class NodeWriter implements BodyWriter {
  readonly #response: ServerResponse
  readonly #owner: NodeHttpResponse
  #drained: (() => void) | null = null
  #stalled = false

  constructor(response: ServerResponse, owner: NodeHttpResponse) {
    this.#response = response
    this.#owner = owner
    response.on('drain', () => owner.contain(() => this.#onDrain()))
  }

  get bufferedBytes(): number {
    return this.#owner.closed ? 0 : this.#response.writableLength
  }

  write(part: string | Uint8Array): boolean {
    if (this.#owner.closed) return true
    // node counts buffered text in UTF-16 units, and buffered bytes in bytes
    const more = this.#response.write(this.#stalled && typeof part === 'string' ? Buffer.from(part) : part)
    if (!more && !this.#stalled) this.#stall()
    return more
  }

  onDrain(listener: () => void): void {
    this.#drained = listener
  }

  end(part: string | Uint8Array = ''): void {
    if (!this.#owner.closed) this.#owner.end(part)
  }

  abort(): void {
    if (!this.#owner.closed) this.#owner.cut(!this.#stalled)
  }

  #stall(): void {
    this.#stalled = true
    // node:http destroys the connection at this timeout, which any progress resets
    this.#response.socket?.setTimeout(stalledMaxMs)
  }

  #onDrain(): void {
    this.#stalled = false
    this.#response.socket?.setTimeout(0)
    this.#drained?.()
  }
}
