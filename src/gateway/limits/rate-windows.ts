import { resetSeconds } from '#records/reset-seconds.ts'
import type { Row } from '#records/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { LimitState, RateLimits } from '#storage/cluster-ports.ts'
import type { LimitData } from './kinds.ts'

const windowMs = 60_000

type Headers = readonly (readonly [name: string, value: string])[]

/** State of one limit. */
interface Left {
  readonly limit: number
  readonly state: LimitState
}

/** Limits of requests and tokens per minute, exact across all nodes that share the limits. */
export class RateWindows {
  readonly #limits: RateLimits

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  /**
   * Takes one request, and checks that tokens are left. The tokens of a call are not known in advance, so a call is
   * refused only when earlier ones have used them up.
   *
   * @param rows the narrowest first, so that a request refused for its key takes nothing from its tenant.
   * @returns headers with the state of the limit that has the least left.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async admit(rows: readonly Row<LimitData>[]): Promise<Headers> {
    const tokens = await this.#tokens(rows)
    const requests: Left[] = []
    for (const { id, data } of rows) {
      const limit = data.requests_per_minute
      if (limit === null) continue
      const state = await this.#limits.take(`requests:${id}`, { limit, windowMs })
      requests.push({ limit, state })
      if (!state.allowed)
        refuse(data, 'requests', {
          headers: [...headersOf('requests', requests), ...headersOf('tokens', tokens)],
          state,
        })
    }
    return [...headersOf('requests', requests), ...headersOf('tokens', tokens)]
  }

  /** Counts the tokens of a call that has ended. */
  async used(rows: readonly Row<LimitData>[], tokens: number): Promise<void> {
    for (const { id, data } of rows) {
      const limit = data.tokens_per_minute
      if (limit === null) continue
      const state = await this.#limits.take(`tokens:${id}`, { limit, windowMs }, tokens)
      // a call that used more than was left uses up the rest
      if (!state.allowed) await this.#limits.take(`tokens:${id}`, { limit, windowMs }, state.remaining)
    }
  }

  async #tokens(rows: readonly Row<LimitData>[]): Promise<readonly Left[]> {
    const tokens: Left[] = []
    for (const { id, data } of rows) {
      const limit = data.tokens_per_minute
      if (limit === null) continue
      const state = await this.#limits.take(`tokens:${id}`, { limit, windowMs }, 0)
      tokens.push({ limit, state })
      if (state.remaining === 0) refuse(data, 'tokens', { headers: headersOf('tokens', tokens), state })
    }
    return tokens
  }
}

/** Headers with the names of OpenAI's API. */
const headersOf = (unit: 'requests' | 'tokens', all: readonly Left[]): Headers => {
  const [least] = [...all].sort((one, other) => one.state.remaining - other.state.remaining)
  if (least === undefined) return []
  return [
    [`x-ratelimit-limit-${unit}`, String(least.limit)],
    [`x-ratelimit-remaining-${unit}`, String(least.state.remaining)],
    [`x-ratelimit-reset-${unit}`, `${secondsOf(least.state)}s`],
  ]
}

const refuse = (
  { subject }: LimitData,
  unit: 'requests' | 'tokens',
  { headers, state }: { readonly headers: Headers; readonly state: LimitState },
): never => {
  throw new ServiceError('rate_limit_exceeded', {
    message: `The ${subject} has no ${unit} left in this minute. Try again later.`,
    retryAfterS: Math.max(1, secondsOf(state)),
    headers,
  })
}

const secondsOf = (state: LimitState): number => resetSeconds(state, windowMs)
