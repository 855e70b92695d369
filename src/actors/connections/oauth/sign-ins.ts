import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '#records/derive-key.ts'
import type { Row } from '#records/schema.ts'
import type { SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { SecretsAt } from '../connection-vault.ts'
import { connectionSignIns, type SignInData, secretAad } from '../kinds.ts'

/** A sign-in has to come back within this time, in ms. */
export const signInMs = 15 * 60 * 1000

/** A link that starts one can be opened so long, in ms. */
export const linkMs = 7 * 24 * 60 * 60 * 1000

/** What a sign-in is begun with. */
export type NewSignIn = Pick<SignInData, 'redirect_uri' | 'return_to' | 'scopes' | 'server' | 'by'> & {
  /** Secret of a cookie of the browser; null when we set none. */
  readonly cookie: string | null
}

/** A sign-in that came back. */
export interface EndedSignIn {
  readonly at: SecretsAt
  readonly data: SignInData
  readonly verifier: string
}

/** Links and states of sign-ins: signed, of one connection, for a while, and a state once. */
export class SignIns {
  readonly #table: Table<SignInData>
  readonly #box: SecretBox
  readonly #key: Buffer
  readonly #now: () => number

  constructor(parts: { records: RecordStore; box: SecretBox; masterKey: Uint8Array; now: () => number }) {
    this.#table = new Table(parts.records, connectionSignIns, parts.now)
    this.#box = parts.box
    this.#key = deriveKey(parts.masterKey, 'sign-ins')
    this.#now = parts.now
  }

  /** A link that starts a sign-in of this connection in whatever browser opens it. */
  link({ id, project }: { readonly id: string; readonly project: string }): {
    readonly link: string
    readonly until: number
  } {
    const until = this.#now() + linkMs
    const claims = Buffer.from(JSON.stringify([project, id, until])).toString('base64url')
    return { link: `${claims}.${this.#sign('link', claims)}`, until }
  }

  /** The connection that a link of ours is for; null for any other text, and when its time is over. */
  linked(link: string): { readonly id: string; readonly project: string } | null {
    const [claims = '', signature = ''] = link.split('.')
    if (!this.#isSigned('link', claims, signature)) return null
    const [project, id, until]: unknown[] = JSON.parse(Buffer.from(claims, 'base64url').toString())
    if (typeof project !== 'string' || typeof id !== 'string' || typeof until !== 'number') return null
    return this.#now() < until ? { project, id } : null
  }

  /** @returns the state for the provider, and the PKCE verifier. @throws {StoreUnavailable} */
  async begin({ id, owner }: SecretsAt, { cookie, ...signIn }: NewSignIn) {
    const nonce = randomBytes(32).toString('base64url')
    const state = `${nonce}.${this.#sign('state', nonce)}`
    const verifier = randomBytes(32).toString('base64url')
    const own = newId('csi')
    const { project, tenant, user } = owner
    const data: SignInData = {
      ...signIn,
      connection_id: id,
      state_hash: hashOf(state),
      verifier: this.#box.seal(verifier, secretAad({ project, id: own }, 'verifier')),
      browser: cookie === null ? null : hashOf(cookie),
    }
    const until = this.#now() + signInMs
    await this.#table.insert({ id: own, project, tenant, user, data, expiresAtMs: until })
    return { state, verifier, until }
  }

  /**
   * The sign-in of a state, which is over then: the second to come gets null, as does a browser that has not begun it.
   * @param cookie of the browser, by the name of its cookie. @throws {StoreUnavailable}
   */
  async end(state: string, cookie: (name: string) => string | undefined): Promise<EndedSignIn | null> {
    const [nonce = '', signature = ''] = state.split('.')
    if (!this.#isSigned('state', nonce, signature)) return null
    const row = await this.#table.findGlobal({ state_hash: hashOf(state) })
    if (row === null || (row.expires_at ?? 0) <= this.#now()) return null
    if (!isBrowserOf(row, cookie(cookieName(state)))) return null
    const isFirst = await this.#table.remove(projectScope(row.project), row.id)
    if (!isFirst) return null
    const { project, tenant, user, data } = row
    const verifier = this.#opened(row)
    return verifier === null
      ? null
      : { at: { id: data.connection_id, owner: { project, tenant, user } }, data, verifier }
  }

  #opened({ id, project, data }: Row<SignInData>): string | null {
    try {
      return this.#box.open(data.verifier, secretAad({ project, id }, 'verifier'))
    } catch {
      // it was begun under another master key
      return null
    }
  }

  #sign(purpose: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${purpose}.${text}`).digest('base64url')
  }

  #isSigned(purpose: string, text: string, signature: string): boolean {
    const [right, given] = [Buffer.from(this.#sign(purpose, text)), Buffer.from(signature)]
    return right.length === given.length && timingSafeEqual(right, given)
  }
}

/** A browser may be at several sign-ins: each has a cookie of its own. */
export const cookieName = (state: string): string => `troupe_connect_${hashOf(state).slice(0, 12)}`

const isBrowserOf = ({ data }: Row<SignInData>, cookie: string | undefined): boolean =>
  data.browser === null || (cookie !== undefined && hashOf(cookie) === data.browser)

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
