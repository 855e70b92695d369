import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { OpenWork } from '#transport/open-work.ts'
import type { BodyPace } from '../body-pace.ts'
import { cannotListen } from '../cannot-listen.ts'
import type { ConnectionLimit } from '../connection-limit.ts'
import { Containment } from '../containment.ts'
import type { HttpHandler, HttpServer } from '../http-port.ts'
import { NodeHttpRequest } from './node-request.ts'
import { NodeHttpResponse, type NodeResponseOwner } from './node-response.ts'
import { NodeUpgrades, offersWebSocket } from './node-upgrades.ts'

/** Timeouts in ms, the same as those of uWebSockets.js, so that both servers behave alike. */
const keepAliveTimeoutMs = 10_000
const headersTimeoutMs = 10_000

const serverOptions = {
  keepAliveTimeout: keepAliveTimeoutMs,
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: 2_000,
  // Uploads may be long: bodies have a minimum rate instead (body-pace.ts).
  requestTimeout: 0,
  // Only WebSocket upgrades are handled. Java's client offers HTTP/2 with its first request; a server ignores offers
  // that it does not know (RFC 9110, 7.8). Node supports this option since 22.21 and 24.9.
  shouldUpgradeCallback: offersWebSocket,
}

export interface NodeParts {
  readonly log: Logger
  readonly connections: ConnectionLimit
  readonly pace: BodyPace
}

/** The HTTP port on node:http, for platforms that uWebSockets.js has no build for. */
class NodeServer implements HttpServer, NodeResponseOwner {
  readonly name = 'node'
  readonly containment: Containment
  readonly connections: ConnectionLimit
  readonly #handler: HttpHandler
  readonly pace: BodyPace
  readonly #work = new OpenWork()
  readonly #server: Server
  readonly #upgrades: NodeUpgrades
  #closing = false

  constructor(handler: HttpHandler, { log, connections, pace }: NodeParts) {
    this.#handler = handler
    this.pace = pace
    this.connections = connections
    this.containment = new Containment(log)
    this.#upgrades = new NodeUpgrades(handler, this.#work, this)
    this.#server = createServer(serverOptions)
    this.#server.on('connection', (socket) => {
      socket.once('close', () => connections.closed())
      if (!connections.opened()) socket.destroy()
    })
    this.#server.on('request', (message, response) =>
      this.containment.run(
        'head',
        () => (isCertain(message) ? this.#serve(message, response) : void response.destroy()),
        () => response.destroy(),
      ),
    )
    this.#server.on('upgrade', (message: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.containment.run(
        'upgrade',
        () => this.#upgrades.accept(message, { socket, head, closing: this.#closing }),
        () => socket.destroy(),
      ),
    )
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(socket, error))
  }

  get closing(): boolean {
    return this.#closing
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const refused = (error: Error): void => reject(cannotListen(host, port, error))
      this.#server.once('error', refused)
      this.#server.listen(port, host, () => {
        this.#server.off('error', refused)
        const address = this.#server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
  }

  async close(graceMs: number): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#upgrades.sayGoodbye()
    await this.#work.settled(graceMs)
    this.#upgrades.cut()
    this.#server.closeAllConnections()
    await closed
  }

  #serve(message: IncomingMessage, response: ServerResponse): void {
    const request = new NodeHttpRequest(message, this.pace)
    const answer = new NodeHttpResponse(response, request, this)
    this.#work.begin()
    response.once('close', () => this.#work.end())
    this.containment.run(
      'request',
      () => this.#handler.request(request, answer),
      () => answer.fail(),
    )
  }
}

/**
 * Whether both sides agree on where the request ends and which host it names. node:http serves an unknown transfer
 * coding although it then cannot find the end of the body (RFC 9112, 6.3), and uses the first of several hosts (7.2),
 * where a proxy may use another. It also emits requests that it had already parsed when the connection was cut.
 */
const isCertain = ({ headers, rawHeaders, socket }: IncomingMessage): boolean =>
  !socket.destroyed &&
  (headers['transfer-encoding'] ?? 'chunked').toLowerCase() === 'chunked' &&
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length < 2

/** Answers bytes that are not HTTP, if the client is still connected. */
const refuse = (socket: Duplex, { code }: NodeJS.ErrnoException): void => {
  const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`, () => socket.destroy())
  else socket.destroy()
}

/** Creates the server without opening a socket; `listen` does. */
export const nodeServer = (handler: HttpHandler, parts: NodeParts): HttpServer => new NodeServer(handler, parts)
