import { resetSeconds } from '#records/reset-seconds.ts'
import type { Row } from '#records/schema.ts'
import type { Clock } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { LimitState, RateLimits } from '#storage/index.ts'
import type { TokenNeed } from '../call/admission.ts'
import type { LimitData } from './kinds.ts'
import { TokenHold } from './token-hold.ts'

/** Window of all limits per minute, in ms. */
export const windowMs = 60_000

type Headers = readonly (readonly [name: string, value: string])[]

/** A limit, or a share of it. */
type RateLimit = Pick<Row<LimitData>, 'id' | 'data'> & { readonly share?: number }

/** Share of each limit that the lines of batches may use, so that other requests are served meanwhile. */
const batchShare = 0.5

/** Returns the limits of a batch's line: its share of each, and then the limit itself. */
export const limitsOfBatches = (rows: readonly Row<LimitData>[]): readonly RateLimit[] => [
  ...rows.map(({ id, data }) => ({ id, data, share: batchShare })),
  ...rows,
]

const shared = (limit: number, share = 1): number => Math.max(1, Math.floor(limit * share))

const keyOf = (share: number | undefined): string => (share === undefined ? '' : ':batches')

/** State of one limit. */
interface Left {
  readonly limit: number
  readonly state: LimitState
}

/** Permission by rates. `tokens`: what is held of limits of tokens; null when none applies. */
export interface Admitted {
  readonly headers: Headers
  readonly tokens: TokenHold | null
}

/**
 * Limits of requests and tokens per minute, exact across all nodes that share the limits
 * (specs/decisions/0086-metering-and-limits.md).
 */
export class RateWindows {
  readonly #limits: RateLimits
  readonly #clock: Clock

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /**
   * Takes one request, and holds the tokens that the call may use.
   *
   * @param rows the narrowest first, so that a request refused for its key takes nothing from its tenant. Those with
   *   `share` limit only the requests of batches, to that share of the limit.
   * @returns headers with the state of the limit that has the least left.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async admit(rows: readonly RateLimit[], needOf: () => TokenNeed): Promise<Admitted> {
    const limited = rows.filter(({ data }) => data.tokens_per_minute !== null)
    const tokens = limited.length === 0 ? null : new TokenHold(this.#limits, this.#clock, needOf())
    try {
      const left = tokens === null ? [] : await this.#hold(tokens, limited)
      return { headers: await this.#request(rows, left), tokens }
    } catch (error) {
      await tokens?.settle(0)
      throw error
    }
  }

  async #hold(tokens: TokenHold, rows: readonly RateLimit[]): Promise<readonly Left[]> {
    const left: Left[] = []
    for (const { id, data, share } of rows) {
      const limit = shared(data.tokens_per_minute ?? 0, share)
      const state = await tokens.add(`tokens:${id}${keyOf(share)}`, { limit, windowMs })
      left.push({ limit, state })
      if (!state.allowed) refuse(data, 'tokens', { headers: headersOf('tokens', left), state })
    }
    return left
  }

  async #request(rows: readonly RateLimit[], tokens: readonly Left[]): Promise<Headers> {
    const requests: Left[] = []
    for (const { id, data, share } of rows) {
      if (data.requests_per_minute === null) continue
      const limit = shared(data.requests_per_minute, share)
      const state = await this.#limits.take(`requests:${id}${keyOf(share)}`, { limit, windowMs })
      requests.push({ limit, state })
      if (!state.allowed)
        refuse(data, 'requests', {
          headers: [...headersOf('requests', requests), ...headersOf('tokens', tokens)],
          state,
        })
    }
    return [...headersOf('requests', requests), ...headersOf('tokens', tokens)]
  }
}

/** Headers with the names of OpenAI's API. */
const headersOf = (unit: 'requests' | 'tokens', all: readonly Left[]): Headers => {
  const [min] = [...all].sort((one, other) => one.state.remaining - other.state.remaining)
  if (min === undefined) return []
  return [
    [`x-ratelimit-limit-${unit}`, String(min.limit)],
    [`x-ratelimit-remaining-${unit}`, String(min.state.remaining)],
    [`x-ratelimit-reset-${unit}`, `${secondsOf(min.state)}s`],
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
