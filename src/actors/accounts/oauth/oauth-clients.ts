import { createHash } from 'node:crypto'
import { AnswerRefused, guardedFetch } from '#outgoing/guarded-fetch.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { resetSeconds } from '#records/reset-seconds.ts'
import { Table } from '#records/table.ts'
import { isObject, newId } from '#runtime/index.ts'
import { projectScope, type RateLimits, type RecordStore } from '#storage/index.ts'
import { originOf } from '../login-limits.ts'
import { type ClientMetadata, readMetadata } from './client-metadata.ts'
import { type OAuthClientData, oauthClients } from './kinds.ts'
import { OAuthError } from './oauth-error.ts'
import { isLoopback } from './redirect-uris.ts'

/** A client that may be granted access. */
export interface OAuthClient extends ClientMetadata {
  readonly id: string
  /** Host whose owner vouches for the client, which its document is at; null for a client that registered itself. */
  readonly host: string | null
}

/** Dependencies of `OAuthClients`. */
export interface OAuthClientsDeps {
  readonly records: RecordStore
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly limits: Pick<RateLimits, 'take'>
  /** ms since the epoch. */
  readonly now: () => number
}

/** Clients belong to the installation: at their registration no member is known, and so no project. */
const place = 'installation'

const hourMs = 3_600_000
const perAddress = { limit: 20, windowMs: hourMs }
const together = { limit: 1000, windowMs: hourMs }

/** A client that no member granted anything is forgotten after a day, a granted one a year after the last time. */
const unusedMs = 24 * hourMs
const usedMs = 365 * 24 * hourMs

/** Limits of a metadata document, which has about a kilobyte. */
const documentLimits = { maxBytes: 16 * 1024, maxDepth: 8, maxValues: 500, maxRequests: 1 } as const
const timeoutMs = 5000
const freshMs = 5 * 60_000
const maxDocuments = 500

/** The clients that may request grants: those that register themselves, and those that publish a document (CIMD). */
export class OAuthClients {
  readonly #deps: OAuthClientsDeps
  readonly #table: Table<OAuthClientData>
  readonly #documents = new Map<string, { readonly client: OAuthClient; readonly untilMs: number }>()

  constructor(deps: OAuthClientsDeps) {
    this.#deps = deps
    this.#table = new Table(deps.records, oauthClients, deps.now)
  }

  /**
   * Registers a client (RFC 7591). It is a public one, whatever it requests: a secret that every caller gets
   * proves nothing.
   *
   * @param address of the client, whose registrations are limited.
   * @throws {OAuthError} `temporarily_unavailable` beyond the limit, and as `readMetadata`
   */
  async register(given: unknown, address: string): Promise<{ readonly id: string } & ClientMetadata> {
    const data = readMetadata(given)
    await this.#take(`oauth-register:${hashed(originOf(address))}`, perAddress)
    await this.#take('oauth-register', together)
    const id = newId('ocl')
    await this.#table.insert({ id, project: place, expiresAtMs: this.#deps.now() + unusedMs, data })
    return { id, ...data }
  }

  /** Keeps a registered client that was granted something. */
  async keep({ id, host }: OAuthClient): Promise<void> {
    if (host !== null) return
    const row = await this.#table.get(projectScope(place), id)
    if (row !== null) await this.#table.replace(row, row.data, { expiresAtMs: this.#deps.now() + usedMs })
  }

  /**
   * Returns the client with this id. An id that is a URL is that of a document, which is fetched: call this for
   * signed-in members only.
   *
   * @throws {OAuthError} `invalid_client`
   */
  async find(id: string): Promise<OAuthClient> {
    if (/^https?:/i.test(id)) return this.#documented(id)
    const row = /^ocl_[0-9A-Za-z]{26}$/.test(id) ? await this.#table.get(projectScope(place), id) : null
    if (row === null) throw unknownClient('No app with this client_id has registered, or its registration has expired.')
    return { id, host: null, ...row.data }
  }

  async #documented(id: string): Promise<OAuthClient> {
    const url = documentUrl(id)
    const known = this.#documents.get(id)
    if (known !== undefined && known.untilMs > this.#deps.now()) return known.client
    const document = await this.#fetched(id)
    if (!isObject(document) || document.client_id !== id)
      throw unknownClient('The document at the client_id does not name itself as client_id.')
    const { token_endpoint_auth_method: method = 'none' } = document
    if (method !== 'none' || 'client_secret' in document)
      throw unknownClient('The document of the client requires an authentication that is not supported.')
    const client = { id, host: url.host, ...readMetadata(document) }
    this.#documents.delete(id)
    const [oldest] = this.#documents.keys()
    if (oldest !== undefined && this.#documents.size >= maxDocuments) this.#documents.delete(oldest)
    this.#documents.set(id, { client, untilMs: this.#deps.now() + freshMs })
    return client
  }

  async #fetched(url: string): Promise<unknown> {
    const outer = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await guardedFetch(this.#deps.guard, documentLimits, { kind: 'oauth', outer })(url, {
        headers: { accept: 'application/json' },
      })
      if (answer.status !== 200) throw unknownClient(`The document at the client_id answers with ${answer.status}.`)
      return JSON.parse(await answer.text())
    } catch (error) {
      if (error instanceof OAuthError) throw error
      // which addresses of this network answer is not for members to find out
      const tooLong = error instanceof AnswerRefused
      throw unknownClient(`The document at the client_id ${tooLong ? 'is too long' : 'cannot be read'}.`)
    }
  }

  async #take(key: string, limit: { readonly limit: number; readonly windowMs: number }): Promise<void> {
    const { allowed, resetMs } = await this.#deps.limits.take(key, limit)
    if (allowed) return
    const waitS = resetSeconds({ resetMs }, limit.windowMs)
    throw new OAuthError('temporarily_unavailable', 'Too many registrations; try again later.', waitS)
  }
}

/** @throws {OAuthError} `invalid_client` for a URL that cannot be a client id */
const documentUrl = (id: string): URL => {
  const url = id.length > 2048 ? null : URL.parse(id)
  // the guard decides whether this machine may be reached at all
  const isSecure = url?.protocol === 'https:' || (url !== null && isLoopback(url))
  const isPlain = url !== null && url.href === id && url.pathname !== '/' && url.hash === '' && url.search === ''
  if (url !== null && isSecure && isPlain && url.username === '' && url.password === '') return url
  throw unknownClient('A client_id that is a URL must be https, with a path, and without a query or a fragment.')
}

const unknownClient = (message: string): OAuthError => new OAuthError('invalid_client', message)

const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url')
