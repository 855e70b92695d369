import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RateLimits } from '#storage/cluster-ports.ts'
import { resetSeconds } from '../records/reset-seconds.ts'

const windowMs = 15 * 60_000
const failures = { limit: 10, windowMs }
const attempts = { limit: 300, windowMs }

/**
 * Failed logins by e-mail and address: ten in a quarter of an hour, then none is tried until one of them is that old. And
 * attempts by address, whatever their e-mail: 300, since an office shares one.
 *
 * Never by e-mail alone, so that no client can lock a member out from elsewhere. All nodes count together. The address is the client's, not
 * that of a trusted proxy (TRUSTED_PROXIES).
 */
export class LoginLimits {
  readonly #limits: RateLimits

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  /**
   * Counts an attempt before it is made, so that many at once are not all let through.
   *
   * @throws {ServiceError} `rate_limit_exceeded` with the seconds until the next is tried.
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

  /** The attempt was right: what failed before it is forgotten. */
  succeeded(email: string, address: string): Promise<void> {
    return this.#limits.reset(keyOf(email, address))
  }
}

/**
 * What one subscriber has: an IPv4 address, or the first 64 bits of an IPv6 one. A client with a network of these would
 * otherwise be another client with each attempt.
 */
export const originOf = (address: string): string => {
  if (isIP(address) !== 6) return address
  const { parts } = ipaddr.IPv6.parse(address)
  return parts.slice(0, 4).join(':')
}

/** Of a fixed length, and without a person's address: limits may be kept outside this process. */
const keyOf = (email: string, address: string): string =>
  `login:${createHash('sha256')
    .update(`${email.toLowerCase()} ${originOf(address)}`)
    .digest('base64url')}`
