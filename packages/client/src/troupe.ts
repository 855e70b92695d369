import { Credential, type CredentialOptions } from './credential.ts'
import { ConnectionError, errorIn, InvalidRequestError, isPassing, notTroupe, TroupeError } from './errors.ts'
import type { Transport } from './follow.ts'
import { backOff, pause } from './page.ts'
import { Session, type SessionOptions } from './session.ts'

/** Where the server is, how this client proves who it is, and how it reads. */
export interface TroupeOptions extends CredentialOptions {
  /** Address of the server, under which `/v1` is served. */
  readonly baseUrl: string
  /** How sessions are read: `webSocket`. Default: server-sent events. */
  readonly transport?: Transport | undefined
  /** Time in ms between the keep-alives of the server. A stream that misses two is opened again. Default: 15,000. */
  readonly keepAliveMs?: number
  /** Time in ms for which a request is repeated after failures that pass. Default: 120,000. */
  readonly retryForMs?: number
  readonly fetch?: typeof fetch
}

/** Values of a query; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** One request. */
export interface RequestOptions {
  readonly query?: Query
  /** JSON, or a form with files. */
  readonly body?: object | undefined
  readonly signal?: AbortSignal
  /** All attempts of one request carry the same key, so that the server carries it out once. */
  readonly idempotencyKey?: string
  /** Attempts at most. Default: as many as `retryForMs` allows. */
  readonly attempts?: number
}

/** Methods that may be repeated without a key. */
const repeatable = /^(GET|PUT|DELETE)$/

/** A client of a Troupe server. */
export class Troupe {
  /** Sessions of this client. `open` gives the same object for the same id. */
  readonly sessions: { open(id?: string | null, options?: SessionOptions): Session }
  /** Default: server-sent events. */
  readonly transport: Transport | undefined
  /** Silence in ms after which a stream is taken for dead. */
  readonly silenceMs: number
  readonly #baseUrl: string
  readonly credential: Credential
  readonly #retryForMs: number
  readonly #fetch: typeof fetch
  readonly #open = new Map<string, Session>()

  constructor(options: TroupeOptions) {
    this.#baseUrl = options.baseUrl.replace(/\/(v1\/?)?$/, '')
    this.credential = new Credential(options)
    this.#retryForMs = options.retryForMs ?? 120_000
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init))
    this.transport = options.transport
    this.silenceMs = 2.2 * (options.keepAliveMs ?? 15_000)
    this.sessions = { open: (id, how = {}) => this.#session(id ?? null, how) }
  }

  /**
   * Sends a request to the API. Failures that pass are repeated, unless the method acts and has no key.
   *
   * @throws {TroupeError} (rejects)
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { signal, idempotencyKey, attempts = Number.POSITIVE_INFINITY } = options
    const mayRepeat = repeatable.test(method) || idempotencyKey !== undefined
    const since = Date.now()
    for (let tries = 1; ; tries++) {
      try {
        return await this.#attempt(method, path, options)
      } catch (error) {
        const isLast = !mayRepeat || tries >= attempts || Date.now() - since > this.#retryForMs || signal?.aborted
        if (isLast || !(error instanceof TroupeError && isPassing(error))) throw error
        await pause(Math.max(backOff(tries, 400 * Math.max(1, tries / 20)), error.retryAfterMs), signal)
      }
    }
  }

  /** Opens a WebSocket. Pages cannot set headers on one, so there a token stands in the address. */
  async socket(path: string, query: Query): Promise<WebSocket> {
    const bearer = await this.credential.bearer()
    const isToken = bearer.startsWith('ect_')
    const url = this.#url(path, { ...query, token: isToken ? bearer : undefined }).replace('http', 'ws')
    if (isToken) return new WebSocket(url)
    // of Node, Bun and Deno, beside what the DOM's types know
    const SocketWithHeaders: new (url: string, options: object) => WebSocket = Object(WebSocket)
    return new SocketWithHeaders(url, { headers: { authorization: `Bearer ${bearer}` } })
  }

  #session(id: string | null, options: SessionOptions): Session {
    const known = id === null ? undefined : this.#open.get(id)
    if (known !== undefined) return known
    const session = new Session(this, id, { ...options, onId: (made) => this.#open.set(made, session) })
    if (id !== null) this.#open.set(id, session)
    return session
  }

  async #attempt(method: string, path: string, options: RequestOptions): Promise<Response> {
    for (let isFirst = true; ; isFirst = false) {
      const bearer = await this.credential.bearer()
      const response = await this.#sent(method, path, { ...options, bearer })
      this.credential.heard(response.headers.get('date'))
      const isHtml = response.headers.get('content-type')?.startsWith('text/html')
      if (response.ok && isHtml)
        throw new InvalidRequestError(notTroupe(this.#baseUrl, response.status), {
          code: 'wrong_base_url',
          status: 404,
        })
      if (response.ok) return response
      const error = await errorIn(response, this.#baseUrl)
      if (response.status !== 401 || !isFirst || !this.credential.refused(bearer)) throw error
    }
  }

  async #sent(
    method: string,
    path: string,
    { query = {}, body, bearer, signal, idempotencyKey }: RequestOptions & { readonly bearer: string },
  ): Promise<Response> {
    const isForm = body instanceof FormData
    const headers = {
      authorization: `Bearer ${bearer}`,
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }
    try {
      return await this.#fetch(this.#url(path, query), { method, headers, ...sent, ...(signal && { signal }) })
    } catch (cause) {
      throw new ConnectionError(`No answer from ${this.#baseUrl}: is the server running, and is baseUrl right?`, {
        code: signal?.aborted ? 'aborted' : 'connection',
        cause,
      })
    }
  }

  #url(path: string, query: Query): string {
    const pairs = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== undefined && value !== null) pairs.set(name, String(value))
    return `${this.#baseUrl}${path}${pairs.size === 0 ? '' : `${path.includes('?') ? '&' : '?'}${pairs}`}`
  }
}
