import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RateLimits } from '#storage/index.ts'
import { resetSeconds } from '../records/reset-seconds.ts'
import type { Row } from '../records/schema.ts'
import type { MemberData } from './kinds.ts'
import { verifyPassword } from './passwords.ts'

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
    refuseBeyond(ofAddress.allowed ? await this.#limits.take(keyOf(email, address), failures) : ofAddress)
  }

  /** Counts an attempt without an e-mail. @throws {ServiceError} as `attempt` */
  async attemptFrom(address: string): Promise<void> {
    refuseBeyond(await this.#limits.take(keyOf('', address), attempts))
  }

  /** Resets the count of failures after a successful login. */
  succeeded(email: string, address: string): Promise<void> {
    return this.#limits.reset(keyOf(email, address))
  }
}

const refuseBeyond = ({ allowed, resetMs }: Awaited<ReturnType<RateLimits['take']>>): void => {
  if (allowed) return
  throw new ServiceError('rate_limit_exceeded', {
    message: 'Too many failed logins; try again later.',
    retryAfterS: resetSeconds({ resetMs }, windowMs),
  })
}

/** Checks passwords within the limits of logins. */
export class PasswordCheck {
  readonly #limits: LoginLimits

  constructor(limits: Pick<RateLimits, 'take' | 'reset'>) {
    this.#limits = new LoginLimits(limits)
  }

  /**
   * Checks a password; it may be the holder of a stolen cookie who guesses.
   *
   * @param stored the hash; null for an unknown e-mail.
   * @returns resets the count of failures, when the sign-in is complete.
   * @throws {ServiceError} `invalid_credentials`, `rate_limit_exceeded`
   */
  async require(
    stored: string | null,
    {
      email,
      password,
      remoteAddress,
    }: { readonly email: string; readonly password: string; readonly remoteAddress: string },
  ): Promise<() => Promise<void>> {
    await this.#limits.attempt(email, remoteAddress)
    if (!(await verifyPassword(stored, { password, origin: originOf(remoteAddress) })))
      throw new ServiceError('invalid_credentials')
    return () => this.#limits.succeeded(email, remoteAddress)
  }

  /** Checks the password of a signed-in member. @throws {ServiceError} as `require`, with its `param` */
  async confirm({ data }: Row<MemberData>, password: string, remoteAddress: string): Promise<void> {
    const attempt = { email: data.email, password, remoteAddress }
    const complete = await this.require(data.password_hash, attempt).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'invalid_credentials')
        throw new ServiceError('invalid_credentials', { param: 'password', cause: error })
      throw error
    })
    await complete()
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
