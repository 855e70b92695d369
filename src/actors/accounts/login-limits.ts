import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RateLimits } from '#storage/index.ts'
import { resetSeconds } from '../records/reset-seconds.ts'

const windowMs = 15 * 60_000
const failures = { limit: 10, windowMs }
const attempts = { limit: 300, windowMs }

/**
 * Limits logins. Failed logins per e-mail and address: ten in 15 minutes; further attempts are refused until one of the
 * ten is 15 minutes old. Attempts per address, with any e-mail: 300 in 15 minutes, since all users of an office may
 * share one address.
 * No limit is by e-mail alone, so no client can lock a member out from elsewhere. All nodes count together. The address
 * is the client's, not that of a trusted proxy (TRUSTED_PROXIES).
 */
export class LoginLimits {
  readonly #limits: Pick<RateLimits, 'take' | 'reset'>

  constructor(limits: Pick<RateLimits, 'take' | 'reset'>) {
    this.#limits = limits
  }

  /**
   * Counts an attempt before the password is verified, so that many attempts at once are not all admitted.
   *
   * @throws {ServiceError} `rate_limit_exceeded` with the seconds until the next attempt is allowed.
   */
  async attempt(email: string, address: string): Promise<void> {
    const ofAddress = await this.#limits.take(keyOf('', address), attempts)
    const { allowed, resetMs } = ofAddress.allowed
      ? await this.#limits.take(keyOf(email, address), failures)
      : ofAddress
    if (allowed) return
    throw new ServiceError('rate_limit_exceeded', {
      message: 'Too many failed logins; try again later.',
      retryAfterS: resetSeconds({ resetMs }, windowMs),
    })
  }

  /** Resets the count of failures after a successful login. */
  succeeded(email: string, address: string): Promise<void> {
    return this.#limits.reset(keyOf(email, address))
  }
}

/**
 * The address range of one subscriber: an IPv4 address, or the first 64 bits of an IPv6 address. Otherwise a client
 * with an IPv6 network could use another address for each attempt.
 */
export const originOf = (address: string): string => {
  if (isIP(address) !== 6) return address
  const { parts } = ipaddr.IPv6.parse(address)
  return parts.slice(0, 4).join(':')
}

/** Key of fixed length, hashed so that it contains no e-mail or address: limits may be stored outside this process. */
const keyOf = (email: string, address: string): string =>
  `login:${createHash('sha256')
    .update(`${email.toLowerCase()} ${originOf(address)}`)
    .digest('base64url')}`
