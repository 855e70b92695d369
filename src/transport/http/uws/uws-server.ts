import type { Logger } from 'pino'
import { OpenWork } from '#transport/open-work.ts'
import type { BodyPace } from '../body-pace.ts'
import { whyNotListening } from '../cannot-listen.ts'
import type { ConnectionLimit } from '../connection-limit.ts'
import { Containment } from '../containment.ts'
import type { HttpHandler, HttpServer } from '../http-port.ts'
import type { Uws, UwsApp, UwsListenSocket, UwsResponse } from './uws-binding.ts'
import { refuseAmbiguous, UwsHttpRequest } from './uws-request.ts'
import { UwsHttpResponse, type UwsResponseOwner } from './uws-response.ts'
import { UwsUpgrades } from './uws-websocket.ts'

export interface UwsParts {
  readonly log: Logger
  readonly connections: ConnectionLimit
  readonly pace: BodyPace
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT: a second server on the same port fails instead of sharing it. */
const exclusivePort = 1

/**
 * The HTTP port on uWebSockets.js.
 *
 * The library closes a connection that sends a second request before the first is answered (it supports pipelining only
 * for answers given at once), so that no answer can reach the wrong request.
 */
class UwsServer implements HttpServer, UwsResponseOwner {
  readonly name = 'uws'
  readonly containment: Containment
  readonly connections: ConnectionLimit
  readonly pace: BodyPace
  readonly #uws: Uws
  readonly #app: UwsApp
  readonly #handler: HttpHandler
  readonly #work = new OpenWork()
  readonly #upgrades: UwsUpgrades
  #listening: UwsListenSocket | null = null
  #closing = false

  constructor(uws: Uws, handler: HttpHandler, { log, connections, pace }: UwsParts) {
    this.#uws = uws
    this.#handler = handler
    this.containment = new Containment(log)
    this.connections = connections
    this.pace = pace
    this.#app = uws.App()
    this.#app.filter((response, change) => this.#count(response, change))
    this.#upgrades = new UwsUpgrades(handler, this, this.#work)
    this.#app.ws('/*', this.#upgrades.behaviour)
    this.#app.any('/*', (response, request) =>
      this.containment.run(
        'head',
        () => this.#take(response, new UwsHttpRequest(response, request, this)),
        () => response.close(),
      ),
    )
  }

  get closing(): boolean {
    return this.#closing
  }

  over(): void {
    this.#work.end()
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, exclusivePort, (token) => {
        if (token === false) return void whyNotListening(host, port).then(reject)
        this.#listening = token
        resolve(this.#uws.us_socket_local_port(token))
      })
    })
  }

  async close(graceMs: number): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    if (this.#listening !== null) this.#uws.us_listen_socket_close(this.#listening)
    this.#upgrades.sayGoodbye()
    await this.#work.settled(graceMs)
    this.#app.close()
  }

  /** Counts a connection that opens or closes. */
  #count(uws: UwsResponse, change: number): void {
    if (change < 0) this.connections.closed()
    else if (!this.connections.opened()) uws.close()
  }

  #take(uws: UwsResponse, request: UwsHttpRequest): void {
    if (request.isAmbiguous) refuseAmbiguous(uws)
    else this.#serve(uws, request)
  }

  #serve(uws: UwsResponse, request: UwsHttpRequest): void {
    const response = new UwsHttpResponse(uws, request, this)
    this.#work.begin()
    uws.onAborted(() => response.aborted())
    this.containment.run(
      'request',
      () => this.#handler.request(request, response),
      () => response.fail(),
    )
  }
}

/** Creates the server without opening a socket; `listen` does. */
export const uwsServer = (uws: Uws, handler: HttpHandler, parts: UwsParts): HttpServer =>
  new UwsServer(uws, handler, parts)
