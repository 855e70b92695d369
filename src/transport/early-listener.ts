import { ServiceError } from '#specs/errors/errors.ts'
import { envelop } from './api/envelopes.ts'
import { headersOf } from './api/refuse.ts'
import type { Headers, HttpHandler, HttpRequest, HttpResponse, UpgradeDecision } from './http/http-port.ts'
import { requestId } from './request-id.ts'

const headers: Headers = [
  ['content-type', 'application/json; charset=utf-8'],
  ['cache-control', 'no-store'],
]

/**
 * Handles requests between a server's `listen` and the end of its start (specs/decisions/0115-starting.md).
 *
 * The port is taken before anything is written, so that a start that cannot listen changes nothing. Requests that
 * arrive meanwhile wait for the handler; probes are answered at once. A start that waits for something refuses requests,
 * which could fill the memory otherwise.
 */
export class EarlyListener implements HttpHandler {
  readonly #ready = Promise.withResolvers<HttpHandler>()
  #handler: HttpHandler | null = null
  #reason: string | null = null

  /** Sets the handler, which also answers the waiting requests. */
  serve(handler: HttpHandler): void {
    this.#reason = null
    this.#handler = handler
    this.#ready.resolve(handler)
  }

  /** Refuses requests until `serve`, because the start waits; nothing after it. @param reason for the readiness probe. */
  wait(reason: string): void {
    if (this.#serves) return
    this.#reason = reason
    this.#handler = refusing
    this.#ready.resolve(refusing)
  }

  get #serves(): boolean {
    return this.#handler !== null && this.#handler !== refusing
  }

  request(request: HttpRequest, response: HttpResponse): void {
    if (!this.#serves && request.path === '/healthz') response.send(200, headers, '{"status":"ok"}')
    else if (!this.#serves && request.path === '/readyz') this.#notReady(response)
    else if (this.#handler !== null) this.#handler.request(request, response)
    else void this.#ready.promise.then((handler) => response.closed || handler.request(request, response))
  }

  async upgrade(request: HttpRequest): Promise<UpgradeDecision> {
    return (this.#handler ?? (await this.#ready.promise)).upgrade(request)
  }

  #notReady(response: HttpResponse): void {
    const reason = this.#reason === null ? {} : { reason: this.#reason }
    response.send(503, [...headers, ['retry-after', '1']], JSON.stringify({ status: 'starting', ...reason }))
  }
}

const refusal = (request: HttpRequest) => {
  const id = requestId(request.header('x-request-id'))
  const error = new ServiceError('store_unavailable')
  const { status, body } = envelop('platform', error, id)
  const head: Headers = [...headers, ['x-request-id', id], ...headersOf(error)]
  return { status, headers: head, body: JSON.stringify(body) }
}

/** Refuses everything while the store does not respond. */
const refusing: HttpHandler = {
  request: (request, response) => {
    const { status, headers: head, body } = refusal(request)
    response.send(status, head, body)
  },
  upgrade: async (request) => ({ refuse: refusal(request) }),
}
