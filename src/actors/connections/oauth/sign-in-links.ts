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
