import type { Logger } from 'pino'
import type { OpenWork } from '../../open-work.ts'
import { type HttpHandler, type WebSocketPeer, websocketMaxBytes } from '../http-port.ts'
import type { UwsBehaviour, UwsResponse, UwsSocket, UwsSocketListener, UwsUpgradeContext } from './uws-binding.ts'
import { UwsHttpRequest } from './uws-request.ts'
import { UwsHttpResponse, type UwsResponseOwner } from './uws-response.ts'

type Accept = (peer: WebSocketPeer) => void

/** One accepted WebSocket on uWebSockets.js. It exists before its socket: the library opens that after the upgrade. */
class UwsPeer implements WebSocketPeer, UwsSocketListener {
  readonly #accept: Accept
  #socket: UwsSocket | null = null
  #message: (text: string) => void = () => {}
  #closed: () => void = () => {}
  #drained: () => void = () => {}

  constructor(accept: Accept) {
    this.#accept = accept
  }

  get bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0
  }

  send(text: string): boolean {
    return this.#socket === null || this.#socket.send(text, false, false) === 1
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener
  }

  onClose(listener: () => void): void {
    this.#closed = listener
  }

  onDrain(listener: () => void): void {
    this.#drained = listener
  }

  close(code: number, reason: string): void {
    this.#socket?.end(code, reason)
  }

  opened(socket: UwsSocket): void {
    this.#socket = socket
    this.#accept(this)
  }

  received(message: ArrayBuffer, isBinary: boolean): void {
    if (isBinary) this.close(1003, 'text only')
    else this.#message(Buffer.from(message).toString())
  }

  /** A send from within the library's own `drain` call would never be followed by another `drain`: so a turn later. */
  writable(): void {
    setImmediate(() => {
      if (this.#socket !== null && this.bufferedBytes === 0) this.#drained()
    })
  }

  gone(): void {
    this.#socket = null
    this.#closed()
  }
}

/** Takes upgrades to WebSocket and looks after the sockets that come of them. */
export class UwsUpgrades {
  readonly behaviour: UwsBehaviour
  readonly #handler: HttpHandler
  readonly #owner: UwsResponseOwner
  readonly #work: OpenWork
  readonly #log: Logger
  readonly #sockets = new Set<UwsSocket>()

  constructor(handler: HttpHandler, owner: UwsResponseOwner, work: OpenWork, log: Logger) {
    this.#handler = handler
    this.#owner = owner
    this.#work = work
    this.#log = log
    this.behaviour = {
      maxPayloadLength: websocketMaxBytes,
      maxBackpressure: 0,
      idleTimeout: 120,
      sendPingsAutomatically: true,
      upgrade: (response, request, context) => this.#ask(response, new UwsHttpRequest(response, request), context),
      open: (socket) => this.#open(socket),
      message: (socket, message, isBinary) => socket.getUserData().listener.received(message, isBinary),
      drain: (socket) => socket.getUserData().listener.writable(),
      close: (socket) => this.#close(socket),
    }
  }

  /** Tells every peer that the server goes away. */
  sayGoodbye(): void {
    for (const socket of [...this.#sockets]) socket.end(1001, 'server is shutting down')
  }

  #ask(uws: UwsResponse, request: UwsHttpRequest, context: UwsUpgradeContext): void {
    const response = new UwsHttpResponse(uws, request, this.#owner)
    request.keepAddress()
    this.#work.begin()
    uws.onAborted(() => response.aborted())
    if (this.#owner.closing) response.send(503, [], '')
    else this.#consult(response, request, context)
  }

  #consult(response: UwsHttpResponse, request: UwsHttpRequest, context: UwsUpgradeContext): void {
    this.#handler.upgrade(request).then(
      (decision) => {
        if ('accept' in decision) this.#upgrade(response, request, context, decision.accept)
        else response.send(decision.refuse.status, decision.refuse.headers, decision.refuse.body)
      },
      (error: unknown) => {
        this.#log.error({ err: error }, 'upgrade handler failed')
        response.send(500, [], '')
      },
    )
  }

  #upgrade(response: UwsHttpResponse, request: UwsHttpRequest, context: UwsUpgradeContext, accept: Accept): void {
    if (response.closed) return
    const data = { listener: new UwsPeer(accept) }
    const key = request.header('sec-websocket-key') ?? ''
    response.uws.cork(() => response.uws.upgrade(data, key, '', '', context))
    response.upgraded()
  }

  #open(socket: UwsSocket): void {
    this.#work.begin()
    this.#sockets.add(socket)
    socket.getUserData().listener.opened(socket)
  }

  #close(socket: UwsSocket): void {
    this.#sockets.delete(socket)
    socket.getUserData().listener.gone()
    this.#work.end()
  }
}
