import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dispatcher } from 'undici'
import { ResponseParser } from './response-parser.ts'

/** Where a connection goes. */
export interface Origin {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  readonly connectTimeoutMs: number
}

/** What becomes of a connection. */
export interface ConnectionOwner {
  /** It can take another request. */
  free(connection: Http1Connection): void
  gone(connection: Http1Connection): void
}

/** A request as it goes over the wire. */
export interface WireRequest {
  /** Request line and headers, but for the length of the body. */
  readonly head: string
  readonly body: Uint8Array | string
  readonly handler: Dispatcher.DispatchHandler
}

/** Bodies up to this size go out with their head in one piece; copying more costs more than it saves. */
const onePieceBytes = 64 * 1024

/** All connections read into it: it is copied from before any other reader. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/** The connection ended, or could not be made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/**
 * One HTTP/1.1 connection, one request at a time. It speaks to the handlers that undici has, for requests that are written
 * whole and answers that are read as they come (specs/decisions/0080-gateway-hot-path.md says why it is there).
 */
export class Http1Connection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  readonly #parser: ResponseParser
  readonly #timer: NodeJS.Timeout
  #exchange: Exchange | null = null
  /** The answer is whole, and what becomes of the connection. */
  #whole: 'reusable' | 'last' | null = null
  #ended = false
  #reason: Error | null = null
  /** When it became idle, in ms of `performance.now()`. */
  idleSince = 0

  constructor(origin: Origin, owner: ConnectionOwner) {
    this.#owner = owner
    this.#parser = new ResponseParser({
      head: (status, headers) => this.#exchange?.head(status, headers),
      data: (bytes) => this.#exchange?.data(bytes),
      end: (reusable) => {
        this.#whole = reusable ? 'reusable' : 'last'
      },
    })
    this.#socket = open(origin, (bytes) => this.#read(bytes))
    this.#socket.setNoDelay(true).setKeepAlive(true, 60_000)
    this.#timer = setTimeout(() => this.destroy(new ConnectionLost('no connection in time')), origin.connectTimeoutMs)
    this.#socket.once(origin.isTls ? 'secureConnect' : 'connect', () => clearTimeout(this.#timer))
    this.#socket.once('end', () => this.#finish())
    this.#socket.once('error', (error) => {
      this.#reason ??= error
    })
    this.#socket.once('close', () => this.#closed())
  }

  /** Sends a request; what is still connecting sends it then. */
  send({ head, body, handler }: WireRequest): void {
    const exchange = new Exchange(this, handler)
    this.#exchange = exchange
    this.#parser.reset()
    exchange.begin()
    if (exchange.aborted) return
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const start = `${head}content-length: ${length}\r\n\r\n`
    if (length > onePieceBytes) {
      this.#socket.cork()
      this.#socket.write(start, 'latin1')
      this.#socket.write(body)
      this.#socket.uncork()
      return
    }
    const whole = Buffer.allocUnsafe(start.length + length)
    whole.write(start, 0, 'latin1')
    if (typeof body === 'string') whole.write(body, start.length, 'utf8')
    else whole.set(body, start.length)
    this.#socket.write(whole)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(reason: Error): void {
    this.#reason ??= reason
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    try {
      // no request is open: the other side says more than it should
      if (this.#exchange === null) this.destroy(new ConnectionLost('bytes without a request'))
      else this.#parser.push(bytes)
      this.#release()
    } catch (error) {
      this.destroy(error instanceof Error ? error : new ConnectionLost('unreadable'))
    }
  }

  /** Once all that came has been read: what came behind the answer's end is not for the next request. */
  #release(): void {
    const whole = this.#whole
    if (whole === null) return
    const exchange = this.#exchange
    this.#whole = null
    this.#exchange = null
    exchange?.leave()
    if (whole === 'reusable' && !this.#ended && !this.#socket.destroyed) this.#owner.free(this)
    else this.#socket.destroy()
    exchange?.end()
  }

  /** The other side says no more. */
  #finish(): void {
    this.#ended = true
    this.#parser.finish()
    this.#release()
    this.#socket.destroy()
  }

  #closed(): void {
    clearTimeout(this.#timer)
    this.#owner.gone(this)
    const exchange = this.#exchange
    this.#exchange = null
    exchange?.leave()
    exchange?.fail(this.#reason ?? new ConnectionLost('closed'))
  }
}

/** One request on a connection: what its handler holds in its hands, and lets go of when the answer is over. */
class Exchange implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler
  #connection: Http1Connection | null
  aborted = false
  paused = false
  reason: Error | null = null

  constructor(connection: Http1Connection, handler: Dispatcher.DispatchHandler) {
    this.#connection = connection
    this.#handler = handler
  }

  /** The request is given up: the other side sees the connection end. Does nothing once the answer is over. */
  abort(reason: Error): void {
    if (this.#connection === null) return
    this.aborted = true
    this.reason = reason
    this.#connection.destroy(reason)
  }

  pause(): void {
    this.paused = true
    this.#connection?.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    this.#connection?.resume()
  }

  /** From here on the connection is not this request's any more. */
  leave(): void {
    this.resume()
    this.#connection = null
  }

  begin(): void {
    this.#handler.onRequestStart?.(this, null)
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.aborted) this.#handler.onResponseStart?.(this, status, headers, '')
  }

  data(bytes: Buffer): void {
    if (!this.aborted) this.#handler.onResponseData?.(this, bytes)
  }

  end(): void {
    if (!this.aborted) this.#handler.onResponseEnd?.(this, {})
  }

  fail(error: Error): void {
    this.#handler.onResponseError?.(this, error)
  }
}

/** Plain connections read past Node's streams, which cost as much as all else in an answer. */
const open = ({ isTls, host, port }: Origin, take: (bytes: Buffer) => void): Socket => {
  if (isTls) return connectTls({ host, port, servername: host, ALPNProtocols: ['http/1.1'] }).on('data', take)
  const callback = (size: number): boolean => {
    take(Buffer.from(readBuffer.subarray(0, size)))
    return true
  }
  return connectPlain({ host, port, onread: { buffer: readBuffer, callback } })
}
