import type { Headers, HttpHandler, HttpRequest, HttpResponse, UpgradeDecision } from './http/http-port.ts'

const headers: Headers = [
  ['content-type', 'application/json; charset=utf-8'],
  ['cache-control', 'no-store'],
]

/**
 * Handles requests between a server's `listen` and the end of its start (specs/decisions/0115-starting.md).
 *
 * The port is taken before anything is written, so that a start that cannot listen changes nothing. Requests that
 * arrive meanwhile wait for the handler; probes are answered at once.
 */
export class EarlyListener implements HttpHandler {
  readonly #ready = Promise.withResolvers<HttpHandler>()
  #handler: HttpHandler | null = null

  /** Sets the handler, which also answers the waiting requests. */
  serve(handler: HttpHandler): void {
    this.#handler = handler
    this.#ready.resolve(handler)
  }

  request(request: HttpRequest, response: HttpResponse): void {
    if (this.#handler !== null) this.#handler.request(request, response)
    else if (request.path === '/healthz') response.send(200, headers, '{"status":"ok"}')
    else if (request.path === '/readyz') response.send(503, [...headers, ['retry-after', '1']], '{"status":"starting"}')
    else void this.#ready.promise.then((handler) => response.closed || handler.request(request, response))
  }

  async upgrade(request: HttpRequest): Promise<UpgradeDecision> {
    return (this.#handler ?? (await this.#ready.promise)).upgrade(request)
  }
}
