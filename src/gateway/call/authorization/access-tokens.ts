import type { Dispatcher } from 'undici'
import { type AttemptFailed, refused, statusFailure, timedOut, unavailable, unreachable } from '../failure.ts'
import { ModelError } from '../provider-port.ts'
import type { TokenRequest } from './authorization.ts'
import { type IssuedToken, issuedToken, NoToken } from './issued-token.ts'

/** A token is renewed this long before it ends, in ms, so that no request carries one that ends on its way. */
const renewedBeforeMs = 60_000
const timeoutMs = 10_000
const maxTokens = 1000

interface KeptToken {
  readonly issued: Promise<IssuedToken>
  /** ms since the epoch; infinite while the token is being issued, so that all callers await the same request. */
  usableUntilMs: number
}

/** Access tokens of the clouds, one for each set of credentials: issued once for all calls that require it. */
class AccessTokens {
  readonly #now: () => number
  readonly #kept = new Map<string, KeptToken>()

  /** @param now ms since the epoch. */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** @throws {AttemptFailed} when no token is issued; the next caller requests one again. */
  async of(dispatcher: Dispatcher, request: TokenRequest): Promise<string> {
    const kept = this.#kept.get(request.key)
    const current = kept !== undefined && kept.usableUntilMs > this.#now() ? kept : this.#renew(dispatcher, request)
    return (await current.issued).token
  }

  #renew(dispatcher: Dispatcher, request: TokenRequest): KeptToken {
    const { key } = request
    const issued = issuedToken({ dispatcher, timeoutMs }, request)
    const kept: KeptToken = {
      usableUntilMs: Number.POSITIVE_INFINITY,
      issued: issued.catch((error: unknown) => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key)
        throw error instanceof NoToken ? failureOf(error, this.#now()) : error
      }),
    }
    void issued.then(({ lifetimeMs }) => {
      kept.usableUntilMs = this.#now() + Math.max(lifetimeMs - renewedBeforeMs, lifetimeMs / 2)
    }, ignored)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxTokens && oldest !== undefined) this.#kept.delete(oldest)
    return kept
  }
}

/** The tokens of this process, which all kinds of calls share. */
export const accessTokens = new AccessTokens()

/** The caller of the token gets the error. */
const ignored = (): void => {}

const failureOf = ({ reply }: NoToken, now: number): AttemptFailed => {
  if (reply.kind === 'answer') {
    const { status } = reply
    if (status === 429 || status >= 500) return statusFailure({ status, body: reply.text, retryAfter: null }, now)
    return refused(new ModelError('provider_error', 'The provider refused the credentials that are configured for it.'))
  }
  if (reply.trouble === 'timeout') return timedOut('answer')
  return reply.trouble === 'refused' ? unavailable() : unreachable()
}
