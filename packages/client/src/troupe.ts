import { type Credential, type CredentialOptions, credentialOf } from './credential.ts'
import { errorIn, isPassing, TroupeError } from './errors.ts'
import type { Transport } from './follow.ts'
import { beforeNext, page } from './page.ts'
import { Session, type SessionOptions } from './session.ts'

/** Headers by their names in lower case: fetch would send two that differ only in case as one with both values. */
export type HeaderFields = Readonly<Record<Lowercase<string>, string>>

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
  /** Headers of every request, such as `{ 'x-tenant-id': 'ten_…' }`. */
  readonly headers?: HeaderFields
  readonly fetch?: typeof fetch
}

/** Values of a query. */
export type Query = Readonly<Record<string, string | number | boolean>>

/** One request. */
export interface RequestOptions {
  readonly query?: Query
  /** JSON, or a form with files. */
  readonly body?: object | undefined
  /** Headers of this request, beside those of the client. */
  readonly headers?: HeaderFields
  readonly signal?: AbortSignal | undefined
  /**
   * Time in ms for each attempt, unless there is a signal, beside that for the body, of which 64 kbit are uploaded in a
   * second. Default: as long as the connection lives.
   */
  readonly timeoutMs?: number
  /** All attempts of one request carry the same key, so that the server carries it out once. Default: a key of its own. */
  readonly idempotencyKey?: string | undefined
  /** Time in ms for which the request is repeated after failures that pass. Default: that of the client. */
  readonly retryForMs?: number
}

/** A client of a Troupe server. */
export class Troupe {
  /** Sessions of this client. `open` gives the same object for the same id. */
  readonly sessions: { open(id?: string | null, options?: SessionOptions): Session }
  readonly options: TroupeOptions
  readonly credential: Credential
  /** Sessions of this client by their ids. */
  readonly opened = new Map<string, Session>()

  constructor(options: TroupeOptions) {
    this.options = { ...options, baseUrl: options.baseUrl.replace(/\/(v1\/?)?$/, '') }
    this.credential = credentialOf(options)
    this.sessions = {
      open: (id = null, how = {}) => {
        const session = this.opened.get(`${id}`) ?? new Session(this, id, how)
        if (id) this.opened.set(id, session)
        return session
      },
    }
  }

  /**
   * Sends a request to the API. Failures that pass are repeated: what acts has a key, so that it is carried out once.
   *
   * @throws {TroupeError} (rejects)
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { query, body, signal, timeoutMs, idempotencyKey = crypto.randomUUID() } = options
    const { baseUrl, fetch: send = fetch, retryForMs = 120_000 } = { ...this.options, ...options }
    const sent = body instanceof FormData ? body : JSON.stringify(body)
    const since = Date.now()
    let isRenewed: true | undefined
    for (let tries = 1; ; tries++) {
      try {
        const bearer = await this.credential.bearer()
        const answered = send(this.url(path, query), {
          method,
          // Firefox keeps a second tab waiting for the first one's stream, to take it from its cache; not every server has caches
          ...(page.document && { cache: 'no-store' }),
          headers: {
            ...this.options.headers,
            ...options.headers,
            authorization: `Bearer ${bearer}`,
            ...(sent !== body && { 'content-type': 'application/json' }),
            'idempotency-key': idempotencyKey,
          },
          signal: signal ?? (timeoutMs ? AbortSignal.timeout(timeoutMs + (`${sent}`.length >> 3)) : null),
          body: sent,
        })
        const response = await answered.catch((cause: unknown) => {
          // the abort of a caller is theirs; a reader aborts a request that its network or watchdog made void
          if (signal?.aborted) throw cause
          throw new TroupeError(`No answer from ${baseUrl}: is the server running, and is baseUrl right?`, {
            code: 'connection',
            cause,
          })
        })
        const { ok, headers } = response
        this.credential.heard(headers.get('date'))
        if (ok && !`${headers.get('content-type')}`.includes('html')) return response
        const error = await errorIn(response, baseUrl)
        if (error.status !== 401 || isRenewed || !this.credential.refused(bearer)) throw error
        isRenewed = true
      } catch (error) {
        if (!(error instanceof TroupeError && isPassing(error) && Date.now() - since < retryForMs)) throw error
        await beforeNext(tries, error, signal)
      }
    }
  }

  /** The address of a path. */
  url(path: string, query?: Query): string {
    return `${this.options.baseUrl}${path}?${new URLSearchParams(Object(query))}`
  }
}
