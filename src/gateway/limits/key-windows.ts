import { resetSeconds } from '#records/reset-seconds.ts'
import type { Clock } from '#runtime/index.ts'
import type { LimitState, RateLimits } from '#storage/index.ts'
import type { KeyGrant, KeyRequest, TokenNeed } from '../call/admission.ts'
import type { Route } from '../call/routes.ts'
import { windowMs } from './rate-windows.ts'
import { TokenHold } from './token-hold.ts'

interface Taken {
  /** @param count absent: all. */
  readonly giveBack: (count?: number) => void
}

const nothing: Taken = { giveBack: () => {} }

/**
 * Requests and tokens per minute of the keys of providers, in the windows of all limits: exact across all nodes that
 * share them (specs/decisions/0083-routing.md). A window belongs to one connection or custom provider, or to the operator's
 * key of a provider.
 */
export class KeyWindows {
  readonly #limits: RateLimits
  readonly #clock: Clock

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Takes requests of the key of a route, and holds their tokens; nothing when either is used up. */
  async admit({ route: { connectionId, provider, keyLimits }, requests, tokens }: KeyRequest): Promise<KeyGrant> {
    const { requestsPerMinute = null, tokensPerMinute = null } = keyLimits ?? {}
    const owner = connectionId ?? provider
    const taken =
      requestsPerMinute === null ? nothing : await this.#requests(`requests:${owner}`, requestsPerMinute, requests)
    if ('waitS' in taken) return taken
    if (tokensPerMinute === null || tokens === undefined)
      return { settle: (_, unsent = 0) => taken.giveBack(unsent), ...taken }
    return this.#tokens(`tokens:${owner}`, { limit: tokensPerMinute, need: tokens(), ...taken })
  }

  /** Counts tokens that were used without permission, whatever is left of them. */
  spend({ connectionId, provider, keyLimits }: Route, tokens: number): void {
    const limit = keyLimits?.tokensPerMinute ?? null
    if (limit === null) return
    const settled = { held: { units: 0, back: 0 }, units: tokens }
    // what cannot be counted makes the limit less strict for a minute
    this.#limits.settle(`tokens:${connectionId ?? provider}`, { limit, windowMs }, settled).catch(() => {})
  }

  /** Requests are held, not taken, since those that are not sent are given back. */
  async #requests(key: string, limit: number, count: number): Promise<Taken | { readonly waitS: number }> {
    if (count > limit) return { waitS: Number.POSITIVE_INFINITY }
    const rule = { limit, windowMs }
    const states = await Promise.all(Array.from({ length: count }, () => this.#limits.hold(key, rule, { max: 1 })))
    const all = states.flatMap(({ held }) => (held === null ? [] : [held]))
    // what cannot be given back makes the limit stricter for a minute
    const giveBack = (count = all.length): void =>
      void Promise.allSettled(all.slice(0, count).map((held) => this.#limits.settle(key, rule, { held, units: 0 })))
    const refused = states.find(({ allowed }) => !allowed)
    if (refused === undefined) return { giveBack }
    giveBack()
    return { waitS: secondsOf(refused) }
  }

  async #tokens(
    key: string,
    { limit, need, giveBack }: Taken & { readonly limit: number; readonly need: TokenNeed },
  ): Promise<KeyGrant> {
    const hold = new TokenHold(this.#limits, this.#clock, need)
    const state = await hold.add(key, { limit, windowMs })
    if (!state.allowed) {
      giveBack()
      return { waitS: secondsOf(state) }
    }
    const { limitedTo } = hold
    return {
      ...(limitedTo !== undefined && { limitedToTokens: limitedTo }),
      settle: (used, unsent = 0) => {
        void hold.settle(used)
        giveBack(unsent)
      },
      giveBack: () => {
        void hold.settle(0)
        giveBack()
      },
    }
  }
}

const secondsOf = (state: LimitState): number => Math.max(1, resetSeconds(state, windowMs))
