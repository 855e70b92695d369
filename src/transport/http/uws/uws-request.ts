import type { BodyPace } from '../body-pace.ts'
import type { Containment } from '../containment.ts'
import type { HttpRequest } from '../http-port.ts'
import { type BodySource, RequestBody } from '../request-body.ts'
import type { UwsRequest, UwsResponse } from './uws-binding.ts'

/** Repeated fields of these names count once; the first stands. Others are joined, as RFC 9110 allows. */
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

/** Fields that say where a request ends: given twice, a proxy in front may have believed the other one. */
const framing = new Set(['content-length', 'transfer-encoding'])

const noBody: Promise<Buffer> = Promise.resolve(Buffer.alloc(0))

/** What a request needs of the server that it came to. */
export interface UwsRequestParts {
  readonly containment: Containment
  readonly pace: BodyPace
}

/** The library closes a connection below 16 KB a second, and without an answer; to go on reading puts that off. */
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

/** A request on uWebSockets.js. Everything is copied at once: the library's object dies with its handler. */
export class UwsHttpRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #headers = new Map<string, string>()
  /** Null when the library takes no more calls for this request. */
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
   * Where the request ends is said twice, or in a way that the library does not know but takes all the same. What follows may
   * be another request to a proxy in front (RFC 9112, 6.3).
   */
  get isAmbiguous(): boolean {
    const coding = this.header('transfer-encoding')
    const isKnown = coding === undefined || coding.toLowerCase() === 'chunked'
    return this.#isRepeated || !isKnown || !/^\d+$/.test(this.header('content-length') ?? '0')
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)
  }

  body(maxBytes: number): Promise<Buffer> {
    const declaredBytes = Number(this.header('content-length') ?? 0)
    if (this.#waitsForInvitation && declaredBytes <= maxBytes) this.#invite()
    return this.#body?.read(maxBytes, declaredBytes) ?? noBody
  }

  /** The connection closes after the answer: the rest of the request may not come to an end. */
  get isLast(): boolean {
    return this.#body?.isTooSlow ?? false
  }

  /** The line of the status is out, with a 100: that of the answer has to be written otherwise. */
  get isInvited(): boolean {
    return this.#isInvited
  }

  /** Makes the address outlive the response, for a request that becomes a WebSocket. */
  keepAddress(): void {
    this.#address = this.#readAddress()
  }

  /** The peer is gone. */
  lose(): void {
    this.#uws = null
    this.#body?.lose()
  }

  /** The answer is about to be sent; whatever of the body is still to come is of no interest. */
  drop(): void {
    this.#uws = null
    this.#body?.drop()
  }

  /**
   * The client sends its body after a 100. The library sends one by itself, but for this very spelling only, although the case
   * of the letters has no meaning (RFC 9110, 10.1.1); Java's client writes another.
   */
  get #waitsForInvitation(): boolean {
    const expected = this.header('expect')
    return expected !== undefined && expected !== '100-continue' && expected.toLowerCase() === '100-continue'
  }

  /** The library has no call for it: this is the line of a status, and the empty line behind it. */
  #invite(): void {
    const uws = this.#uws
    if (uws === null || this.#body === null || this.#isInvited) return
    this.#isInvited = true
    uws.cork(() => void uws.writeStatus('100 Continue\r\n'))
  }

  /** Read only where it is needed: it is a system call and an ArrayBuffer, a quarter of what a request costs. */
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
 * Cuts the connection. An answer before would be one too many: the library goes on with what came after the head, as far as it
 * has come already, even where the answer says that the connection closes.
 */
export const refuseAmbiguous = (uws: UwsResponse): void => uws.close()
