import { ConnectionError, TroupeError } from './errors.ts'
import { isPage } from './page.ts'

/** A client token, as `client_tokens.create` answers. */
export interface ClientToken {
  readonly token: string
  readonly expires_at: string
}

/** How a client proves who it is: a secret key on a server, or tokens that the page's own server mints. */
export interface CredentialOptions {
  /** Secret key (`csk_…`). Never in a page: everyone can read it there. */
  readonly key?: string
  /** Gets a client token, for example from a route made with `@troupe/client/server`. */
  readonly token?: () => Promise<ClientToken>
  /** Shares tokens between tabs: `sharedTabs('name of the user')`. */
  readonly tabs?: TokenShare | undefined
}

/** A token with the times, on the server's clock, from which it is renewed and is worth nothing. */
export interface Held {
  readonly token: string
  readonly renewAt: number
  readonly endsAt: number
}

/** Those who share tokens. */
export interface TokenShare {
  /** Called with each token that another one shows. */
  onToken: (held: Held) => void
  show(held: Held): void
  /** Runs the work in one place at a time. It gets a function that waits for a token newer than one that has ended. */
  alone<T>(work: (others: (old: Held | null) => Promise<void>) => Promise<T>): Promise<T>
}

/** Part of its life after which a token is renewed. */
const renewedAfter = 0.8

/** Life in ms that a token is given while the clock is unknown and its end seems to be past. */
const unknownLife = 60_000

/** The credential of one client: a key, or the newest token, of which one is fetched at a time. */
export class Credential {
  readonly #options: CredentialOptions
  readonly #tabs: TokenShare | undefined
  #held: Held | null = null
  #fetching: Promise<Held> | null = null
  /** What the server's clock is ahead of this one, in ms. */
  #ahead: number | null = null

  constructor(options: CredentialOptions) {
    const { key, token, tabs } = options
    if ((key === undefined) === (token === undefined)) throw usage('Pass either key or token to new Troupe().')
    if (key !== undefined && isPage())
      throw usage('A secret key is visible to everyone in a page: pass token, and mint client tokens on your server.')
    this.#options = options
    this.#tabs = tabs
    if (tabs !== undefined) tabs.onToken = (held) => this.#take(held)
  }

  /** Returns the key, or a token that is not due for renewal. A failed renewal leaves the old one its last fifth. */
  async bearer(): Promise<string> {
    if (this.#options.key !== undefined) return this.#options.key
    const held = this.#held
    if (held !== null && this.#now() < held.renewAt) return held.token
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = null
    })
    try {
      return (await this.#fetching).token
    } catch (error) {
      if (held !== null && held === this.#held && this.#now() < held.endsAt) return held.token
      throw error
    }
  }

  /** Drops a bearer that the server refused; the newest, if none is named. @returns whether there may be another. */
  refused(bearer = this.#held?.token): boolean {
    if (this.#held?.token === bearer) this.#held = null
    return this.#options.token !== undefined
  }

  /** Learns the server's clock from the `Date` of a response. */
  heard(date: string | null): void {
    const at = Date.parse(date ?? '')
    if (!Number.isNaN(at)) this.#ahead = at - Date.now()
  }

  #now(): number {
    return Date.now() + (this.#ahead ?? 0)
  }

  #take(held: Held): void {
    if (this.#held === null || held.renewAt > this.#held.renewAt) this.#held = held
  }

  #renew(): Promise<Held> {
    const old = this.#held
    if (this.#tabs === undefined) return this.#mint()
    return this.#tabs.alone(async (others) => {
      await others(old)
      const held = this.#held
      if (held !== null && held !== old && this.#now() < held.renewAt) return held
      return this.#mint()
    })
  }

  async #mint(): Promise<Held> {
    const { token, expires_at } = await this.#fetched()
    const now = this.#now()
    const endsAt = Date.parse(expires_at)
    const life = endsAt > now || this.#ahead !== null ? endsAt - now : unknownLife
    if (typeof token !== 'string' || Number.isNaN(life)) throw usage('token must resolve to { token, expires_at }.')
    this.#held = { token, renewAt: now + life * renewedAfter, endsAt: now + life }
    this.#tabs?.show(this.#held)
    return this.#held
  }

  async #fetched(): Promise<ClientToken> {
    try {
      return (await this.#options.token?.()) ?? { token: '', expires_at: '' }
    } catch (cause) {
      if (cause instanceof TroupeError) throw cause
      throw new ConnectionError('No client token could be fetched: the function token failed.', {
        code: 'connection',
        cause,
      })
    }
  }
}

const usage = (message: string): TroupeError => new TroupeError(message, { code: 'usage' })
