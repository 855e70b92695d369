import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Ticker } from '#runtime/internal.ts'
import type { OpenWork } from '#transport/open-work.ts'
import type { HttpHandler, UpgradeDecision } from '../http-port.ts'
import { checkHeaders, defaultHeaders, statusLine } from '../response-head.ts'
import { NodeHttpRequest } from './node-request.ts'
import { acceptHead, NodeWebSocket, type NodeWebSocketParts } from './node-websocket.ts'

/** Ping interval. A peer that stays silent over two of them is cut. */
const pingMs = 60_000

type Refusal = Extract<UpgradeDecision, { refuse: unknown }>['refuse']
type Acceptance = Extract<UpgradeDecision, { accept: unknown }>

const badRequest: Refusal = { status: 400, headers: [], body: '' }
const shuttingDown: Refusal = { status: 503, headers: [], body: '' }
const failed: Refusal = { status: 500, headers: [], body: '' }

/** The socket of an upgrade, its key, and the bytes that arrived with the request. */
export interface UpgradedConnection {
  readonly socket: Duplex
  readonly key: string
  readonly head: Buffer
}

/** Handles upgrades to WebSocket on node:http, and tracks the sockets that are open. */
export class NodeUpgrades {
  readonly #handler: HttpHandler
  readonly #work: OpenWork
  readonly #parts: NodeWebSocketParts
  readonly #peers = new Set<NodeWebSocket>()
  readonly #ticker = new Ticker(pingMs)

  constructor(handler: HttpHandler, work: OpenWork, parts: NodeWebSocketParts) {
    this.#handler = handler
    this.#work = work
    this.#parts = parts
  }

  accept(
    message: IncomingMessage,
    { socket, head, closing }: { readonly socket: Duplex; readonly head: Buffer; readonly closing: boolean },
  ): void {
    socket.on('error', () => socket.destroy())
    const key = websocketKey(message)
    if (closing) refuse(socket, shuttingDown)
    else if (key === null) refuse(socket, badRequest)
    else this.#consult(message, { socket, key, head })
  }

  #consult(message: IncomingMessage, { socket, key, head }: UpgradedConnection): void {
    this.#work.begin()
    const decide = async (): Promise<void> => {
      try {
        this.#decide(await this.#handler.upgrade(new NodeHttpRequest(message)), { socket, key, head })
      } finally {
        this.#work.end()
      }
    }
    this.#parts.containment.start('upgrade', decide, () => refuse(socket, failed))
  }

  /** Closes every socket with code 1001 (going away). */
  sayGoodbye(): void {
    for (const peer of this.#peers) peer.close(1001, 'server is shutting down')
  }

  /** Cuts every remaining connection. */
  cut(): void {
    for (const peer of this.#peers) peer.cut()
  }

  #decide(decision: UpgradeDecision, { socket, key, head }: UpgradedConnection): void {
    if (socket.destroyed) return
    if ('accept' in decision) this.#accept(decision, { socket, key, head })
    else refuse(socket, decision.refuse)
  }

  #accept({ accept, protocol }: Acceptance, { socket, key, head }: UpgradedConnection): void {
    socket.write(acceptHead(key, protocol))
    const peer = new NodeWebSocket(socket, this.#parts)
    this.#peers.add(peer)
    this.#ticker.add(peer)
    this.#work.begin()
    socket.once('close', () => {
      this.#peers.delete(peer)
      this.#ticker.delete(peer)
      this.#work.end()
    })
    peer.contain(() => accept(peer))
    peer.start(head)
  }
}

/** Whether a request requests a WebSocket, with a valid handshake or not. */
export const offersWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** The key of a WebSocket handshake; null for any other request. The handler checks the rest of the handshake. */
const websocketKey = (message: IncomingMessage): string | null => {
  const { method, headers } = message
  const key = headers['sec-websocket-key']
  return method === 'GET' && offersWebSocket(message) ? (key ?? null) : null
}

/** Sends a refusal and closes the socket. It is not read, so the server would not notice that the client has left. */
const refuse = (socket: Duplex, { status, headers, body }: Refusal): void => {
  checkHeaders(headers)
  const fields = [...headers, ...defaultHeaders(headers).each].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n`
  socket.end(`HTTP/1.1 ${statusLine(status)}\r\n${fields}${length}\r\n${body}`, () => socket.destroy())
}
