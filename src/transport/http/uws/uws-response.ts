import type { BodyPace } from '../body-pace.ts'
import type { ConnectionLimit } from '../connection-limit.ts'
import type { Containment } from '../containment.ts'
import type { BodyWriter, Headers, HttpResponse } from '../http-port.ts'
import { mutedWriter } from '../muted-writer.ts'
import { PacedAnswer } from '../paced-answer.ts'
import { checkHeaders, defaultHeaders, isBodiless, statusLine } from '../response-head.ts'
import type { UwsResponse } from './uws-binding.ts'
import type { UwsHttpRequest } from './uws-request.ts'
import { type UwsBody, UwsWriter } from './uws-writer.ts'

/** Bodies larger than this are sent as the reader accepts them; smaller ones are left to the library's buffer. */
const largeBytes = 64 * 1024

/** The server, as seen by its responses. */
export interface UwsResponseOwner {
  /** Whether connections are closed after their answer. */
  readonly closing: boolean
  readonly containment: Containment
  readonly pace: BodyPace
  readonly connections: Pick<ConnectionLimit, 'closed'>
  /** Called once per answer, when it has ended or its peer has disconnected. */
  over(): void
}

/** The answer to one request on uWebSockets.js. Only this object registers `onAborted` and `onWritable`. */
export class UwsHttpResponse implements HttpResponse, UwsBody {
  readonly uws: UwsResponse
  readonly #owner: UwsResponseOwner
  readonly #request: UwsHttpRequest
  #closed = false
  #listener: (() => void) | null = null
  #overListener: (() => void) | null = null
  #status = ''
  #headers: Headers = []
  #answered = false
  #headPending = true
  #writer: UwsWriter | null = null
  #paced: PacedAnswer | null = null

  constructor(uws: UwsResponse, request: UwsHttpRequest, owner: UwsResponseOwner) {
    this.uws = uws
    this.#request = request
    this.#owner = owner
  }

  get closed(): boolean {
    return this.#closed
  }

  get begun(): boolean {
    return this.#answered
  }

  onClose(listener: () => void): void {
    this.#listener = listener
  }

  onOver(listener: () => void): void {
    if (this.#closed) listener()
    else this.#overListener = listener
  }

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    if (!this.#begin(status, headers)) return
    if (this.#request.method === 'HEAD' || isBodiless(status)) this.#endWithoutBody(status, body)
    else if (body.length > largeBytes) this.#sendLarge(typeof body === 'string' ? Buffer.from(body) : body)
    else this.finish(body)
  }

  stream(status: number, headers: Headers): BodyWriter {
    if (!this.#begin(status, headers)) return mutedWriter
    if (this.#request.method === 'HEAD') {
      this.#endWithoutBody(204, '')
      return mutedWriter
    }
    this.#writer = new UwsWriter(this)
    return this.#writer
  }

  writeHead(): void {
    if (!this.#headPending) return
    this.#headPending = false
    if (this.#request.isInvited) this.#writeStatusAgain()
    else this.uws.writeStatus(this.#status)
    this.#writeHeaders(this.#headers)
    this.#writeHeaders(defaultHeaders(this.#headers).joined)
  }

  /** By index: an iterator for the list and one for each pair would cost as much as the writes. */
  #writeHeaders(headers: Headers): void {
    for (let at = 0; at < headers.length; at++) {
      const header = headers[at]
      if (header !== undefined) this.uws.writeHeader(header[0], header[1])
    }
  }

  /**
   * Writes the final status after a 100. The library writes one status line per request, which was the 100, so the
   * final status line is sent in front of a header's name.
   */
  #writeStatusAgain(): void {
    this.uws.writeHeader(`HTTP/1.1 ${this.#status}\r\nvary`, 'Expect')
  }

  finish(part: string | Uint8Array): void {
    this.uws.cork(() => {
      this.writeHead()
      this.uws.end(part, this.#owner.closing || this.#request.isLast)
    })
    this.#over()
  }

  cut(): void {
    this.#listener = null
    this.uws.close()
  }

  /** Called when the request has become a WebSocket: no answer follows. */
  upgraded(): void {
    this.#request.drop()
    this.#over()
  }

  /** Called when the peer has disconnected: the library allows no more calls for this answer. */
  aborted(): void {
    if (this.#closed) return
    this.#request.lose()
    this.#over()
    const listener = this.#listener
    if (listener !== null) this.contain(listener)
  }

  fail(): void {
    if (this.#closed) return
    if (this.#answered) this.cut()
    else this.send(500, [], '')
  }

  contain(work: () => void): void {
    this.#owner.containment.run('answer', work, () => {
      if (!this.#closed) this.cut()
    })
  }

  /** Returns false when the client has disconnected or an answer has begun. */
  #begin(status: number, headers: Headers): boolean {
    checkHeaders(headers)
    if (this.#closed || this.#answered) return false
    this.#answered = true
    this.#request.drop()
    this.#status = statusLine(status)
    this.#headers = headers
    return true
  }

  /** Sends a body as fast as its reader accepts it, so that the end of the answer can be observed. */
  #sendLarge(body: Uint8Array): void {
    let accepted = 0
    this.#paced = new PacedAnswer(this.#owner.pace, { accepted: () => accepted, cut: () => this.cut() })
    const sendFrom = (offset: number): boolean => {
      accepted = offset
      const [taken, done] = this.uws.tryEnd(body.subarray(offset), body.length)
      if (done) this.#over()
      return taken
    }
    this.uws.onWritable((offset) => {
      let taken = true
      this.contain(() => {
        taken = sendFrom(offset)
      })
      return taken
    })
    this.uws.cork(() => {
      this.writeHead()
      sendFrom(0)
    })
  }

  #endWithoutBody(status: number, body: string | Uint8Array): void {
    this.uws.cork(() => {
      this.writeHead()
      if (!isBodiless(status)) this.uws.writeHeader('content-length', String(Buffer.byteLength(body)))
      if (this.#owner.closing) this.uws.writeHeader('connection', 'close')
      this.uws.endWithoutBody()
    })
    this.#over()
  }

  #over(): void {
    this.#closed = true
    this.#writer?.release()
    this.#paced?.end()
    this.#owner.over()
    const listener = this.#overListener
    this.#overListener = null
    if (listener !== null) this.contain(listener)
  }
}
