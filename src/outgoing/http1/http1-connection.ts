import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dispatcher } from 'undici'
import { ResponseParser } from './response-parser.ts'

/** Target of a connection. */
export interface Origin {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
  readonly connectTimeoutMs: number
}

/** The pool of a connection. */
export interface ConnectionOwner {
  /** The connection can take another request. */
  free(connection: Http1Connection): void
  gone(connection: Http1Connection): void
}

/** A serialised request. */
export interface WireRequest {
  /** Request line and headers, except for the length of the body. */
  readonly head: string
  readonly body: Uint8Array | string
  readonly handler: Dispatcher.DispatchHandler
}

/** Bodies up to this size are sent together with their head; copying larger ones costs more than it saves. */
const onePieceBytes = 64 * 1024

/** Read buffer shared by all connections; its contents are copied before another connection reads. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

/** The connection was closed, or could not be made. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/**
 * One HTTP/1.1 connection, one request at a time. It calls the same handlers as undici, for requests that are sent
 * complete and answers that are streamed (specs/decisions/0080-gateway-hot-path.md explains why it exists).
 */
export class Http1Connection {
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  readonly #parser: ResponseParser
  readonly #timer: NodeJS.Timeout
  #exchange: Exchange | null = null
  /** Set when the answer is complete: whether the connection can be reused. */
  #whole: 'reusable' | 'last' | null = null
  #ended = false
  #reason: Error | null = null
  /** Time when it became idle, in ms of `performance.now()`. */
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

  /** Sends a request; a connection that is still being opened sends it once it is established. */
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
      // no request is open: the server has sent more than an answer
      if (this.#exchange === null) this.destroy(new ConnectionLost('bytes without a request'))
      else this.#parser.push(bytes)
      this.#release()
    } catch (error) {
      this.destroy(error instanceof Error ? error : new ConnectionLost('unreadable'))
    }
  }

  /**
   * Called when all received bytes are parsed, since bytes after the answer's end do not belong to the next request.
   */
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

  /** The server has closed its side. */
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

/**
 * One request on a connection: the controller for its handler, detached from the connection when the answer has ended.
 */
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

  /** Aborts the request by closing the connection. Does nothing once the answer has ended. */
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

  /** Detaches the request from the connection. */
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

/** Opens a socket. Plain connections bypass Node's streams, which cost as much as the rest of an answer. */
const open = ({ isTls, host, port }: Origin, take: (bytes: Buffer) => void): Socket => {
  if (isTls) return connectTls({ host, port, servername: host, ALPNProtocols: ['http/1.1'] }).on('data', take)
  const callback = (size: number): boolean => {
    take(Buffer.from(readBuffer.subarray(0, size)))
    return true
  }
  return connectPlain({ host, port, onread: { buffer: readBuffer, callback } })
}
