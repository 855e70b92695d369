import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'

type Controller = Dispatcher.DispatchController
type Fields = Record<string, string | string[] | undefined>

/** Where a WebSocket is opened, and over which connections: those of the guard check the address. */
export interface WebSocketTarget {
  readonly dispatcher: Dispatcher
  readonly origin: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** ms from the request to the upgrade. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The server answered the upgrade with something else. `status` 0: with an upgrade that is not one of WebSocket. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused'
  readonly status: number
  readonly body: string
  readonly retryAfter: string | null

  constructor(status: number, body: string, retryAfter: string | null) {
    super(`the server answered ${status} instead of an upgrade`)
    this.status = status
    this.body = body
    this.retryAfter = retryAfter
  }
}

/** The server did not answer in time. */
export class UpgradeTimedOut extends Error {
  override readonly name = 'UpgradeTimedOut'
}

/** Fixed by RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const maxErrorBytes = 64 * 1024

/** The value of `Sec-WebSocket-Accept` for a key. */
export const acceptOf = (key: string): string =>
  createHash('sha1')
    .update(key + acceptSuffix)
    .digest('base64')

/**
 * Opens a WebSocket and returns its connection, paused; bytes that arrived with the upgrade are read from it first.
 *
 * @throws {UpgradeRefused} {UpgradeTimedOut}, and errors of the connection such as {SsrfRefused}
 */
export const openWebSocket = (target: WebSocketTarget): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const { dispatcher, origin, path, headers, timeoutMs, signal } = target
    const key = randomBytes(16).toString('base64')
    const handler = new UpgradeHandler(acceptOf(key), { resolve, reject })
    const timer = setTimeout(() => handler.end(new UpgradeTimedOut()), timeoutMs)
    const cancel = (): void => handler.end(signal.reason)
    handler.onSettled = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    else {
      const own = { 'sec-websocket-version': '13', 'sec-websocket-key': key }
      const request = { origin, path, method: 'GET', upgrade: 'websocket', headers: { ...headers, ...own } } as const
      dispatcher.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler)
    }
  })

interface Settling {
  readonly resolve: (socket: Duplex) => void
  readonly reject: (error: unknown) => void
}

class UpgradeHandler implements Dispatcher.DispatchHandler {
  readonly #accept: string
  readonly #settling: Settling
  onSettled: () => void = () => {}
  #controller: Controller | null = null
  #isOver = false
  #status = 0
  #retryAfter: string | null = null
  #body = ''

  constructor(accept: string, settling: Settling) {
    this.#accept = accept
    this.#settling = settling
  }

  end(error: unknown): void {
    if (this.#isOver) return
    this.#settle()
    this.#controller?.abort(error instanceof Error ? error : new Error('cancelled'))
    this.#settling.reject(error)
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('cancelled'))
  }

  onRequestUpgrade(...[, , headers, socket]: [Controller, number, Fields, Duplex]): void {
    // errors are seen by the reader of the socket; until there is one they must not end the process
    socket.on('error', () => {})
    // the agent bounds what arrives without an answer, which no longer applies
    Reflect.deleteProperty(socket, 'read')
    if (this.#isOver) socket.destroy()
    else if (headers['sec-websocket-accept'] === this.#accept && headers['sec-websocket-extensions'] === undefined) {
      this.#settle()
      this.#settling.resolve(socket)
    } else {
      socket.destroy()
      this.end(new UpgradeRefused(0, '', null))
    }
  }

  onResponseStart(_: Controller, status: number, headers: Fields): void {
    this.#status = status
    const retryAfter = headers['retry-after']
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter
  }

  onResponseData(_: Controller, part: Buffer): void {
    if (this.#body.length < maxErrorBytes) this.#body += part.toString('latin1')
  }

  onResponseEnd(): void {
    const body = Buffer.from(this.#body, 'latin1').toString('utf8')
    this.end(new UpgradeRefused(this.#status, body, this.#retryAfter))
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.#status > 0) this.onResponseEnd()
    else this.end(error)
  }

  #settle(): void {
    this.#isOver = true
    this.onSettled()
  }
}
