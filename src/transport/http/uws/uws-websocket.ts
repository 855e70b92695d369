import { isUtf8 } from 'node:buffer'
import type { OpenWork } from '#transport/open-work.ts'
import type { Containment } from '../containment.ts'
import { type HttpHandler, type UpgradeDecision, type WebSocketPeer, websocketMaxBytes } from '../http-port.ts'
import { wireLimits } from '../wire-limits.ts'
import type { UwsBehaviour, UwsResponse, UwsSocket, UwsSocketListener, UwsUpgradeContext } from './uws-binding.ts'
import { refuseAmbiguous, UwsHttpRequest } from './uws-request.ts'
import { UwsHttpResponse, type UwsResponseOwner } from './uws-response.ts'

type Accept = (peer: WebSocketPeer) => void
type Acceptance = Extract<UpgradeDecision, { accept: unknown }>

/**
 * One accepted WebSocket on uWebSockets.js. It is created before its socket, which the library opens after the upgrade.
 */
class UwsPeer implements WebSocketPeer, UwsSocketListener {
  readonly #accept: Accept
  readonly #containment: Containment
  #socket: UwsSocket | null = null
  #message: (text: string) => void = () => {}
  #closed: () => void = () => {}
  #drained: () => void = () => {}

  constructor(accept: Accept, containment: Containment) {
    this.#accept = accept
    this.#containment = containment
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
    this.#contain(() => this.#accept(this))
  }

  received(message: ArrayBuffer, isBinary: boolean): void {
    const bytes = Buffer.from(message)
    // some clients send text in binary frames; the library has checked text frames
    if (isBinary && !isUtf8(bytes)) this.close(1003, 'text only')
    else this.#contain(() => this.#message(bytes.toString()))
  }

  /**
   * Deferred by one loop turn: after a send from within its own `drain` call, the library would never call `drain`
   * again.
   */
  writable(): void {
    setImmediate(() => {
      this.#contain(() => {
        if (this.#socket !== null && this.bufferedBytes === 0) this.#drained()
      })
    })
  }

  gone(): void {
    this.#socket = null
    this.#contain(() => this.#closed())
  }

  #contain(work: () => void): void {
    this.#containment.run('socket', work, () => this.close(1011, 'internal error'))
  }
}

/** Handles upgrades to WebSocket, and tracks the sockets that are open. */
export class UwsUpgrades {
  readonly behaviour: UwsBehaviour
  readonly #handler: HttpHandler
  readonly #owner: UwsResponseOwner
  readonly #work: OpenWork
  readonly #sockets = new Set<UwsSocket>()

  constructor(handler: HttpHandler, owner: UwsResponseOwner, work: OpenWork) {
    this.#handler = handler
    this.#owner = owner
    this.#work = work
    this.behaviour = {
      maxPayloadLength: websocketMaxBytes,
      maxBackpressure: wireLimits.socketMaxBytes,
      closeOnBackpressureLimit: true,
      idleTimeout: 120,
      sendPingsAutomatically: true,
      upgrade: (response, request, context) =>
        owner.containment.run(
          'upgrade',
          () => this.#begin(response, new UwsHttpRequest(response, request, owner), context),
          () => response.close(),
        ),
      open: (socket) => this.#open(socket),
      message: (socket, message, isBinary) => socket.getUserData().listener.received(message, isBinary),
      drain: (socket) => socket.getUserData().listener.writable(),
      close: (socket) => this.#close(socket),
    }
  }

  /** Closes every socket with code 1001 (going away). */
  sayGoodbye(): void {
    for (const socket of [...this.#sockets]) socket.end(1001, 'server is shutting down')
  }

  #begin(uws: UwsResponse, request: UwsHttpRequest, context: UwsUpgradeContext): void {
    if (request.isAmbiguous) {
      refuseAmbiguous(uws)
      return
    }
    const response = new UwsHttpResponse(uws, request, this.#owner)
    request.keepAddress()
    this.#work.begin()
    uws.onAborted(() => response.aborted())
    if (this.#owner.closing) response.send(503, [], '')
    else this.#consult(response, request, context)
  }

  #consult(response: UwsHttpResponse, request: UwsHttpRequest, context: UwsUpgradeContext): void {
    const decide = async (): Promise<void> => {
      const decision = await this.#handler.upgrade(request)
      if ('accept' in decision) this.#upgrade(response, request, { context, decision })
      else response.send(decision.refuse.status, decision.refuse.headers, decision.refuse.body)
    }
    this.#owner.containment.start('upgrade', decide, () => response.fail())
  }

  #upgrade(
    response: UwsHttpResponse,
    request: UwsHttpRequest,
    { context, decision }: { readonly context: UwsUpgradeContext; readonly decision: Acceptance },
  ): void {
    if (response.closed) return
    const data = { listener: new UwsPeer(decision.accept, this.#owner.containment) }
    const key = request.header('sec-websocket-key') ?? ''
    // not corked: at the end of its cork the library looks for an answer that closes the connection, at where the socket has its
    // own data by then, and closed some of them at once
    response.uws.upgrade(data, key, decision.protocol ?? '', '', context)
    response.upgraded()
  }

  #open(socket: UwsSocket): void {
    this.#work.begin()
    this.#sockets.add(socket)
    socket.getUserData().listener.opened(socket)
  }

  #close(socket: UwsSocket): void {
    this.#sockets.delete(socket)
    this.#owner.connections.closed()
    socket.getUserData().listener.gone()
    this.#work.end()
  }
}
