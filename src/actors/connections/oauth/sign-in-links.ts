import { createHash } from 'node:crypto'
import { withoutSlash } from '../use/requests.ts'
import type { SignIns } from './sign-ins.ts'

/** URLs of sign-ins at this server, for browsers. */
export class SignInLinks {
  readonly #signIns: SignIns
  readonly #serverUrl: string

  /** @param serverUrl without a path, or with the prefix that a proxy adds. */
  constructor(signIns: SignIns, serverUrl: string) {
    this.#signIns = signIns
    this.#serverUrl = withoutSlash(serverUrl)
  }

  /** URL to which providers redirect browsers after a sign-in. */
  get callbackUrl(): string {
    return `${this.#serverUrl}/v1/connections/oauth/callback`
  }

  /**
   * Returns the redirect URI for servers whose responses do not name the issuer. It differs per issuer, so that a code
   * of another server arrives at another URI (RFC 9700, section 4.4.2.2).
   */
  readonly callbackFor = (issuer: string): string => this.callbackAt(issuerMark(issuer))

  /** Returns the redirect URI with the last segment of `callbackFor`. */
  callbackAt(mark: string): string {
    return `${this.callbackUrl}/${mark}`
  }

  /** URL of the document that describes this server as an OAuth client; null without an https address. */
  get clientDocumentUrl(): string | null {
    return this.isSecure ? `${this.#serverUrl}/client-metadata.json` : null
  }

  /** Path of the cookies of sign-ins. */
  get cookiePath(): string {
    return new URL('.', this.callbackUrl).pathname
  }

  /** Whether browsers reach the server over https. */
  get isSecure(): boolean {
    return this.#serverUrl.startsWith('https:')
  }

  /** Returns a link that starts a sign-in, and its expiry in ms since the epoch. */
  of(connection: { readonly project: string; readonly id: string }): { readonly url: string; readonly until: number } {
    const { link, until } = this.#signIns.link(connection)
    return { url: this.start(link), until }
  }

  /** Returns the URL that starts a sign-in in the browser that opens it. */
  start(link: string): string {
    return `${this.#serverUrl}/v1/connections/oauth/start?link=${link}`
  }
}

const issuerMark = (issuer: string): string => createHash('sha256').update(issuer).digest('base64url').slice(0, 22)
