import { TroupeError } from './errors.ts'
import { page } from './page.ts'
import { asFields } from './schema.ts'

/** A client token, as `client_tokens.create` answers. */
export interface ClientToken {
  readonly token: string
  readonly expires_at: string
}

/** How a client proves who it is: a secret key on a server, or tokens that the page's own server mints. */
export interface CredentialOptions {
  /** Secret key (`csk_…`). Never in a page: everyone can read it there. */
  readonly key?: string | undefined
  /** Gets a client token, for example from a route made with `@troupe/client/server`; `sharedTabs` lets tabs share it. `now`: the time on the server's clock. */
  readonly token?: (now: number) => Promise<ClientToken>
}

/** Time in ms for `token`. */
const tokenMs = 10_000

/** A token with the time, on the server's clock, from which it is renewed. */
interface Held {
  readonly token: string
  readonly renewAt: number
}

/** Part of its life after which a token is renewed. */
const renewedAfter = 0.8

/** Life in ms that a token is given while the clock is unknown and its end seems to be past. */
const unknownLife = 60_000

/** The credential of one client: a key, or the newest token, of which one is fetched at a time. */
export interface Credential {
  /** Returns the key, or a token that is not due for renewal. A failed renewal leaves the old one its last fifth. */
  bearer(): Promise<string>
  /** Drops a bearer that the server refused. @returns whether there may be another. */
  refused(bearer: string): boolean
  /** Learns the server's clock from the `Date` of a response. */
  heard(date: string | null): void
}

/** Makes the credential of a client. @throws {TroupeError} for a key in a page */
export const credentialOf = ({ key, token }: CredentialOptions): Credential => {
  if (key && page.document) throw usage('Pages pass token.')
  let held: Held | null = null
  let fetching: Promise<Held> | null = null
  /** What the server's clock is ahead of this one, in ms. */
  let ahead: number | null = null
  const now = () => Date.now() + (ahead ?? 0)
  const mint = async (): Promise<Held> => {
    const late = new Promise((_, reject) => AbortSignal.timeout(tokenMs).addEventListener('abort', reject))
    const made = asFields<ClientToken>(await Promise.race([token?.(now()), late]))
    const toEnd = Date.parse(made.expires_at) - now()
    const life = toEnd <= 0 && ahead === null ? unknownLife : toEnd
    if (!(made.token && life > 0)) throw usage('token() must return { token, expires_at }, not expired.')
    held = { token: made.token, renewAt: now() + life * renewedAfter }
    return held
  }
  return {
    bearer: async () => {
      // not where the client is made: a build makes it too, without the variables of the server
      if (!key === !token) throw usage('Pass key or token: is it set?')
      if (key) return key
      const before = held
      if (before && now() < before.renewAt) return before.token
      fetching ??= mint().finally(() => {
        fetching = null
      })
      const newest = await fetching.catch((cause: unknown) => {
        // whose last fifth is left, or which the server refuses
        if (before && before === held) return before
        throw cause instanceof TroupeError
          ? cause
          : new TroupeError('No answer from token(): is its route right?', { code: 'connection', cause })
      })
      return newest.token
    },
    refused: (bearer) => {
      if (held?.token === bearer) held = null
      return !key
    },
    heard: (date) => {
      ahead = Date.parse(`${date}`) - Date.now() || ahead
    },
  }
}

/** An error of the program that uses this client. */
export const usage = (message: string, cause?: unknown): TroupeError =>
  new TroupeError(message, { code: 'usage', cause })
