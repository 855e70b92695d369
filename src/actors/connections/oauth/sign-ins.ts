import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Row } from '#records/schema.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import { openedOrNull, type SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import type { SecretsAt } from '../connection-vault.ts'
import { connectionSignIns, type SignInData, secretAad } from '../kinds.ts'

/** Time in ms within which a sign-in must be completed. */
export const signInMs = 15 * 60 * 1000

/** Lifetime of a link that starts a sign-in, in ms. */
const linkMs = 7 * 24 * 60 * 60 * 1000

/** Time in ms within which the caller must confirm a sign-in: providers' codes do not live longer. */
const confirmMs = 10 * 60 * 1000

/** A sign-in that no browser has started yet. */
export type OfferedSignIn = Pick<SignInData, 'return_to' | 'scopes' | 'by' | 'confirm'>

/** A sign-in that a browser starts. */
export type NewSignIn = OfferedSignIn &
  Pick<SignInData, 'redirect_uri' | 'server' | 'issuer'> & {
    /** Secret in the cookie of the browser that starts the sign-in. */
    readonly cookie: string
  }

/** Purpose of a token. A token is not accepted for any other purpose. */
type Purpose = 'offer' | 'state' | 'confirm'

type Kept = Omit<SignInData, 'connection_id' | 'state_hash' | 'verifier'>

/** A sign-in whose browser has returned. */
export interface EndedSignIn {
  readonly at: SecretsAt
  readonly data: SignInData
  readonly verifier: string
}

/**
 * Issues and redeems the links and state parameters of sign-ins. They are signed, belong to one connection and expire;
 * a state can be redeemed once.
 */
export class SignIns {
  readonly #table: Table<SignInData>
  readonly #box: SecretBox
  /** The first key signs; signatures by any of them are accepted. */
  readonly #keys: readonly [Buffer, ...Buffer[]]
  readonly #now: () => number

  constructor(parts: {
    records: RecordStore
    box: SecretBox
    keys: Pick<ServerKeys, 'current' | 'others'>
    now: () => number
  }) {
    this.#table = new Table(parts.records, connectionSignIns, parts.now)
    this.#box = parts.box
    this.#keys = [parts.keys.current('sign-ins'), ...parts.keys.others('sign-ins')]
    this.#now = parts.now
  }

  /** Returns a link that starts a sign-in for this connection in any browser that opens it. */
  link({ id, project }: { readonly id: string; readonly project: string }): {
    readonly link: string
    readonly until: number
  } {
    const until = this.#now() + linkMs
    const claims = Buffer.from(JSON.stringify([project, id, until])).toString('base64url')
    return { link: `${claims}.${this.#sign('link', claims)}`, until }
  }

  /** Returns the connection of a link; null for an invalid or expired link. */
  linked(link: string): { readonly id: string; readonly project: string } | null {
    const [claims = '', signature = ''] = link.split('.')
    if (!this.#isSigned('link', claims, signature)) return null
    const [project, id, until]: unknown[] = JSON.parse(Buffer.from(claims, 'base64url').toString())
    if (typeof project !== 'string' || typeof id !== 'string' || typeof until !== 'number') return null
    return this.#now() < until ? { project, id } : null
  }

  /**
   * Stores a sign-in for the first browser that redeems its token.
   *
   * @returns the token and its expiry.
   * @throws {StoreUnavailable}
   */
  async offer(at: SecretsAt, offered: OfferedSignIn): Promise<{ readonly token: string; readonly until: number }> {
    const data = { ...offered, redirect_uri: '', server: '', browser: null }
    return this.#keep('offer', at, { data, secret: '', ms: signInMs })
  }

  /** Redeems the token of an offered sign-in; null when it was redeemed before. @throws {StoreUnavailable} */
  async taken(token: string): Promise<{ readonly at: SecretsAt; readonly data: SignInData } | null> {
    const row = await this.#row('offer', token)
    return row === null ? null : this.#removed(row)
  }

  /**
   * Starts a sign-in.
   *
   * @returns the state parameter for the provider, and the PKCE verifier.
   * @throws {StoreUnavailable}
   */
  async begin(at: SecretsAt, { cookie, ...signIn }: NewSignIn) {
    const verifier = randomBytes(32).toString('base64url')
    const data = { ...signIn, browser: hashOf(cookie) }
    const { token: state, until } = await this.#keep('state', at, { data, secret: verifier, ms: signInMs })
    return { state, verifier, until }
  }

  /**
   * Stores a code until the caller confirms who signed in; returns the token for the confirmation.
   *
   * @throws {StoreUnavailable}
   */
  async hold({ at, data }: EndedSignIn, code: string): Promise<string> {
    const held = { data: { ...data, browser: null }, secret: code, ms: confirmMs }
    return (await this.#keep('confirm', at, held)).token
  }

  /**
   * Redeems the confirmation token of a connection; `verifier` of the result contains the code. Works once.
   *
   * @throws {StoreUnavailable}
   */
  async confirmed(token: string, connectionId: string): Promise<EndedSignIn | null> {
    const row = await this.#row('confirm', token)
    return row === null || row.data.connection_id !== connectionId ? null : this.#ended(row)
  }

  /**
   * Ends the sign-in of a state parameter and returns it; null when the state was redeemed before, or another browser
   * started the sign-in.
   *
   * @param cookie returns a cookie of the browser by name. @throws {StoreUnavailable}
   */
  async end(state: string, cookie: (name: string) => string | undefined): Promise<EndedSignIn | null> {
    const row = await this.#row('state', state)
    return row === null || !isBrowserOf(row, cookie(cookieName(state))) ? null : this.#ended(row)
  }

  async #keep(
    purpose: Purpose,
    { id, owner }: SecretsAt,
    { data, secret, ms }: { readonly data: Kept; readonly secret: string; readonly ms: number },
  ) {
    const nonce = randomBytes(32).toString('base64url')
    const token = `${nonce}.${this.#sign(purpose, nonce)}`
    const own = newId('csi')
    const { project, tenant, user } = owner
    const row: SignInData = {
      ...data,
      connection_id: id,
      state_hash: hashOf(token),
      verifier: this.#box.seal(secret, secretAad({ project, id: own }, 'verifier')),
    }
    const until = this.#now() + ms
    await this.#table.insert({ id: own, project, tenant, user, data: row, expiresAtMs: until })
    return { token, until }
  }

  /** Returns the stored sign-in of a token; null when the token is invalid or expired. */
  async #row(purpose: Purpose, token: string): Promise<Row<SignInData> | null> {
    const [nonce = '', signature = ''] = token.split('.')
    if (!this.#isSigned(purpose, nonce, signature)) return null
    const row = await this.#table.findGlobal({ state_hash: hashOf(token) })
    return row === null || (row.expires_at ?? 0) <= this.#now() ? null : row
  }

  /** Removes a sign-in and returns it; null when another request has already removed it. */
  async #removed(row: Row<SignInData>) {
    if (!(await this.#table.remove(projectScope(row.project), row.id))) return null
    const { project, tenant, user, data } = row
    return { at: { id: data.connection_id, owner: { project, tenant, user } }, data }
  }

  async #ended(row: Row<SignInData>): Promise<EndedSignIn | null> {
    const removed = await this.#removed(row)
    const verifier = this.#opened(row)
    return removed === null || verifier === null ? null : { ...removed, verifier }
  }

  #opened({ id, project, data }: Row<SignInData>): string | null {
    return openedOrNull(this.#box, data.verifier, secretAad({ project, id }, 'verifier'))
  }

  #sign(purpose: string, text: string, key = this.#keys[0]): string {
    return createHmac('sha256', key).update(`${purpose}.${text}`).digest('base64url')
  }

  #isSigned(purpose: string, text: string, signature: string): boolean {
    const given = Buffer.from(signature)
    return this.#keys.some((key) => {
      const right = Buffer.from(this.#sign(purpose, text, key))
      return right.length === given.length && timingSafeEqual(right, given)
    })
  }
}

/** Returns the name of a sign-in's cookie. Each has its own, since a browser may have several sign-ins in progress. */
export const cookieName = (state: string): string => `troupe_connect_${hashOf(state).slice(0, 12)}`

const isBrowserOf = ({ data }: Row<SignInData>, cookie: string | undefined): boolean =>
  cookie !== undefined && hashOf(cookie) === data.browser

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
