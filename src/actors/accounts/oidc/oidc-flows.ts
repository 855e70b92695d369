import { createHash, randomBytes } from 'node:crypto'
import type { SecretBox } from '#records/secret-box.ts'

/** Time in ms within which a sign-in must be completed. */
const flowMs = 10 * 60_000

/** A sign-in that a browser has started. */
export interface OidcFlow {
  readonly organization: string
  readonly connection: string
  /** Issuer at which it was started. */
  readonly issuer: string
  readonly nonce: string
  readonly verifier: string
  /** The member that links its account, and the session in which it does; null for a sign-in. */
  readonly link: { readonly member: string; readonly session: string } | null
  /** Path of this server to which the sign-in leads. */
  readonly returnTo: string
  readonly until: number
}

/**
 * Sign-ins in progress. Each is sealed in a cookie of the browser that started it, for its own state parameter. So a
 * stolen state is of no use in another browser, and a stranger's requests store nothing.
 */
export class OidcFlows {
  readonly #box: SecretBox
  readonly #now: () => number
  readonly #secure: boolean

  constructor({ box, now, secureCookies }: { box: SecretBox; now: () => number; secureCookies: boolean }) {
    this.#box = box
    this.#now = now
    this.#secure = secureCookies
  }

  /** Starts a sign-in. @returns its state parameter and the `Set-Cookie` header */
  begin(given: Pick<OidcFlow, 'organization' | 'connection' | 'issuer' | 'link' | 'returnTo'>) {
    const [state, nonce, verifier] = [random(), random(), random()]
    const flow: OidcFlow = { ...given, nonce, verifier, until: this.#now() + flowMs }
    const sealed = Buffer.from(this.#box.seal(JSON.stringify(flow), aadOf(state))).toString('base64url')
    return { state, nonce, verifier, cookie: this.#cookie(state, sealed, flowMs / 1000) }
  }

  /** Returns the sign-in of a state parameter; null unless this browser has started it, and not too long ago. */
  read(state: string, cookies: string): OidcFlow | null {
    const prefix = `${this.#name(state)}=`
    const value = cookies.split(/; */).find((each) => each.startsWith(prefix))
    if (value === undefined) return null
    try {
      const sealed = Buffer.from(value.slice(prefix.length), 'base64url').toString()
      const flow: OidcFlow = JSON.parse(this.#box.open(sealed, aadOf(state)))
      return flow.until > this.#now() ? flow : null
    } catch {
      // not ours, or of another state
      return null
    }
  }

  /** `Set-Cookie` that ends the sign-in. */
  ended(state: string): string {
    return this.#cookie(state, '', 0)
  }

  #cookie(state: string, value: string, maxAgeS: number): string {
    const secure = this.#secure ? '; Secure' : ''
    return `${this.#name(state)}=${value}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`
  }

  /** Each sign-in has its own cookie, since a browser may have several in progress. */
  #name(state: string): string {
    const mark = createHash('sha256').update(state).digest('base64url').slice(0, 12)
    return `${this.#secure ? '__Host-' : ''}troupe_oidc_${mark}`
  }
}

const random = (): string => randomBytes(32).toString('base64url')

const aadOf = (state: string): string => `oidc-flow|${state}`
