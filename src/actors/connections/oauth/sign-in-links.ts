import { withoutSlash } from '../use/requests.ts'
import type { SignIns } from './sign-ins.ts'

/** Where browsers reach this server. */
export class SignInLinks {
  readonly #signIns: SignIns
  readonly #serverUrl: string

  /** @param serverUrl without a path, or with the one that a proxy adds. */
  constructor(signIns: SignIns, serverUrl: string) {
    this.#signIns = signIns
    this.#serverUrl = withoutSlash(serverUrl)
  }

  /** Where providers send people back to. */
  get callbackUrl(): string {
    return `${this.#serverUrl}/v1/connections/oauth/callback`
  }

  /** Path of cookies of sign-ins. */
  get cookiePath(): string {
    return new URL('.', this.callbackUrl).pathname
  }

  /** Whether browsers come over https. */
  get isSecure(): boolean {
    return this.#serverUrl.startsWith('https:')
  }

  /** A link that starts a sign-in, and until when, in ms since the epoch. */
  of(connection: { readonly project: string; readonly id: string }): { readonly url: string; readonly until: number } {
    const { link, until } = this.#signIns.link(connection)
    return { url: this.start(link), until }
  }

  /** The address that begins a sign-in in the browser that opens it. */
  start(link: string): string {
    return `${this.#serverUrl}/v1/connections/oauth/start?link=${link}`
  }
}
