import { resetSeconds } from '#records/reset-seconds.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { voiceRequestsPerMinute } from '#specs/resources/gateway/voice.ts'
import type { RateLimits } from '#storage/index.ts'

type Headers = readonly (readonly [name: string, value: string])[]

const limit = { limit: voiceRequestsPerMinute, windowMs: 60_000 }

/** Limit on voice requests per minute and project, shared by all nodes. */
export class VoiceLimit {
  readonly #limits: Pick<RateLimits, 'take'>

  constructor(limits: Pick<RateLimits, 'take'>) {
    this.#limits = limits
  }

  /**
   * Counts one request against the limit.
   *
   * @returns headers for the response: the limit, the remaining requests, and the seconds until the next one is
   * available.
   * @throws {ServiceError} `rate_limit_exceeded` with the same headers and `Retry-After`
   */
  async take(project: string): Promise<Headers> {
    const { allowed, remaining, resetMs } = await this.#limits.take(`voice:${project}`, limit)
    const resetS = resetSeconds({ resetMs }, limit.windowMs)
    const headers: Headers = [
      ['x-ratelimit-limit', String(limit.limit)],
      ['x-ratelimit-remaining', String(remaining)],
      ['x-ratelimit-reset', String(resetS)],
    ]
    if (allowed) return headers
    throw new ServiceError('rate_limit_exceeded', {
      message: `A project may make ${limit.limit} voice requests a minute.`,
      retryAfterS: Math.max(1, resetS),
      headers,
    })
  }
}

/** Merges headers; those of the voice limit replace those of other limits with the same names. */
export const withLimit = (limited: Headers, others: Headers): Headers => [
  ...limited,
  ...others.filter(([name]) => !limited.some(([own]) => own === name)),
]
