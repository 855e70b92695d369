import { ServiceError } from '../../../specs/errors.ts'

const maxFailures = 10
const windowMs = 15 * 60_000
const maxEntries = 100_000

interface Failures {
  count: number
  readonly sinceMs: number
}

/**
 * Failed logins by e-mail and address: ten in a quarter of an hour, then none is tried until it is over.
 *
 * By both, so that nobody can lock a member out from elsewhere. Of this process only: with several nodes each
 * allows as many.
 */
export class LoginLimits {
  readonly #failures = new Map<string, Failures>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Counts an attempt before it is made, so that many at once are not all let through.
   *
   * @throws {ServiceError} `rate_limit_exceeded` with the seconds until the next is tried.
   */
  attempt(email: string, address: string): void {
    const key = keyOf(email, address)
    const now = this.#now()
    const failures = this.#current(key, now)
    if (failures.count >= maxFailures) {
      throw new ServiceError('rate_limit_exceeded', {
        message: 'Too many failed logins; try again later.',
        retryAfterS: Math.ceil((failures.sinceMs + windowMs - now) / 1000),
      })
    }
    failures.count += 1
  }

  /** The attempt was right: what failed before it is forgotten. */
  succeeded(email: string, address: string): void {
    this.#failures.delete(keyOf(email, address))
  }

  #current(key: string, now: number): Failures {
    const known = this.#failures.get(key)
    if (known !== undefined && now < known.sinceMs + windowMs) return known
    const fresh: Failures = { count: 0, sinceMs: now }
    this.#failures.delete(key)
    this.#makeRoom()
    this.#failures.set(key, fresh)
    return fresh
  }

  /** The map is in the order of `sinceMs`. */
  #makeRoom(): void {
    if (this.#failures.size < maxEntries) return
    const oldest = this.#failures.keys().next()
    if (!oldest.done) this.#failures.delete(oldest.value)
  }
}

const keyOf = (email: string, address: string): string => `${email.toLowerCase()} ${address}`
