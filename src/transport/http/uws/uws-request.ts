import type { BodyPace } from '../body-pace.ts'
import type { Containment } from '../containment.ts'
import type { BodyOptions, HttpRequest } from '../http-port.ts'
import { type BodySource, RequestBody } from '../request-body.ts'
import type { UwsRequest, UwsResponse } from './uws-binding.ts'

/** Of these fields only the first occurrence counts. Repetitions of other fields are joined, as RFC 9110 allows. */
const single = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'if-modified-since',
  'last-event-id',
  'origin',
  'user-agent',
])

/** Fields that delimit a request. If one is repeated, a proxy in front may have used the other occurrence. */
const framing = new Set(['content-length', 'transfer-encoding'])

const noBody: Promise<Buffer> = Promise.resolve(Buffer.alloc(0))

export interface UwsRequestParts {
  readonly containment: Containment
  readonly pace: BodyPace
}

/**
 * The library closes a connection that receives less than 16 KB/s, without an answer. Resuming the read restarts its
 * timer.
 */
class UwsSource implements BodySource {
  readonly #uws: UwsResponse

  constructor(uws: UwsResponse) {
    this.#uws = uws
  }

  pause(): void {
    this.#uws.pause()
  }

  resume(): void {
    this.#uws.resume()
  }

  postpone(): void {
    this.#uws.pause()
    this.#uws.resume()
  }
}

/**
 * A request on uWebSockets.js. Everything is copied in the constructor, since the library's object is invalid after its
 * handler.
 */
export class UwsHttpRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #headers = new Map<string, string>()
  /** Null when the library allows no more calls for this request. */
  #uws: UwsResponse | null
  #address: string | null = null
  #body: RequestBody | null = null
  #isRepeated = false
  #isInvited = false

  constructor(uws: UwsResponse, request: UwsRequest, parts: UwsRequestParts) {
    this.method = request.getCaseSensitiveMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    this.#uws = uws
    request.forEach((name, value) => {
      this.#addHeader(name, value)
    })
    if (this.#hasBody()) this.#collect(uws, parts)
  }

  get remoteAddress(): string {
    this.#address ??= this.#readAddress()
    return this.#address
  }

  /**
   * Whether the end of the request is declared twice, or in a way that the library accepts without understanding it. A
   * proxy in front may take the bytes that follow for another request (RFC 9112, 6.3).
   */
  get isAmbiguous(): boolean {
    const coding = this.header('transfer-encoding')
    const isKnown = coding === undefined || coding.toLowerCase() === 'chunked'
    return this.#isRepeated || !isKnown || !/^\d+$/.test(this.header('content-length') ?? '0')
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)
  }

  body(maxBytes: number, options?: BodyOptions): Promise<Buffer> {
    const declaredBytes = Number(this.header('content-length') ?? 0)
    if (this.#waitsForInvitation && declaredBytes <= maxBytes) this.#invite()
    return this.#body?.read(maxBytes, declaredBytes, options) ?? noBody
  }

  /** Whether the connection closes after the answer, because the rest of a slow body may never arrive. */
  get isLast(): boolean {
    return this.#body?.isTooSlow ?? false
  }

  /**
   * Whether a `100 Continue` status line has been sent; the final status line has to be written in another way then.
   */
  get isInvited(): boolean {
    return this.#isInvited
  }

  /** Keeps the address available after the response ends, for a request that becomes a WebSocket. */
  keepAddress(): void {
    this.#address = this.#readAddress()
  }

  /** Called when the peer has disconnected. */
  lose(): void {
    this.#uws = null
    this.#body?.lose()
  }

  /** Called before the answer is sent: the rest of the body is discarded. */
  drop(): void {
    this.#uws = null
    this.#body?.drop()
  }

  /**
   * Whether the client waits for a 100 that the library does not send. The library sends it for the exact spelling
   * `100-continue` only, although the value is case-insensitive (RFC 9110, 10.1.1); Java's client uses another
   * spelling.
   */
  get #waitsForInvitation(): boolean {
    const expected = this.header('expect')
    return expected !== undefined && expected !== '100-continue' && expected.toLowerCase() === '100-continue'
  }

  /** Sends a 100. The library has no call for it, so this writes the status line and the empty line after it. */
  #invite(): void {
    const uws = this.#uws
    if (uws === null || this.#body === null || this.#isInvited) return
    this.#isInvited = true
    uws.cork(() => void uws.writeStatus('100 Continue\r\n'))
  }

  /**
   * Reads the address. Called only on demand: the system call and its ArrayBuffer are a quarter of the cost of a
   * request.
   */
  #readAddress(): string {
    return this.#uws === null ? '' : Buffer.from(this.#uws.getRemoteAddressAsText()).toString('latin1')
  }

  #addHeader(name: string, value: string): void {
    const present = this.#headers.get(name)
    if (present === undefined) this.#headers.set(name, value)
    else if (framing.has(name)) this.#isRepeated = true
    else if (!single.has(name)) this.#headers.set(name, `${present}${name === 'cookie' ? '; ' : ', '}${value}`)
  }

  #hasBody(): boolean {
    return this.header('transfer-encoding') !== undefined || (this.header('content-length') ?? '0') !== '0'
  }

  #collect(uws: UwsResponse, { containment, pace }: UwsRequestParts): void {
    const body = new RequestBody(new UwsSource(uws), pace)
    this.#body = body
    const take = (part: ArrayBuffer, last: boolean): void => {
      if (part.byteLength > 0) body.push(Buffer.from(Buffer.from(part)))
      if (last) body.finish()
    }
    uws.onData((part, last) =>
      containment.run(
        'body',
        () => take(part, last),
        () => uws.close(),
      ),
    )
  }
}

/**
 * Cuts the connection without an answer. After an answer the library would continue to process bytes that have arrived
 * after the head, even if the answer closes the connection.
 */
export const refuseAmbiguous = (uws: UwsResponse): void => uws.close()
