import type { Payer } from './caller.ts'
import type { KeySource, Need, Route } from './routes.ts'

/** Tokens that a call may use. */
export interface TokenNeed {
  /** Estimate of the input, plus the longest answer. */
  readonly max: number
  /** The same with the shortest usable answer; absent for a call whose answer must not be limited. */
  readonly min?: number | undefined
}

/** A call for which permission is requested. */
export interface AdmissionRequest {
  readonly caller: Payer
  readonly need: Need
  /** The model name as the caller gave it. */
  readonly model: string
  /** Source of the API key of the first route. */
  readonly source: KeySource
  /**
   * Returns the maximum cost of the call in USD as decimal text; null when it is unknown. Called only under a budget.
   */
  readonly maxUsd: () => string | null
  /**
   * Returns the cost in USD of the shortest answer; absent for a call that cannot be made cheaper. Called only when the
   * maximum exceeds what is left.
   */
  readonly minUsd?: () => string | null
  /** Returns the tokens that the call may use; absent for a call without tokens. Called only under a limit of tokens. */
  readonly tokens?: (() => TokenNeed) | undefined
}

/** Permission to make one call. */
export interface Ticket {
  /** Headers for the answer, such as `x-ratelimit-…`. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Upper limit in USD for the cost of the call, when it is lower than the maximum cost; as decimal text. */
  readonly limitedToUsd?: string
  /** Upper limit for the tokens of the call, input included, when it is lower than their maximum. */
  readonly limitedToTokens?: number
  /**
   * Reports that the call has ended, with any outcome.
   * @param usd the actual cost; null when it is unknown, '0' when nothing was used.
   * @param tokens that were used.
   */
  settle(usd: string | null, tokens: number): void
  /**
   * Resolves when the settled cost is durable; undefined when there is nothing to wait for.
   * @throws {StoreUnavailable}
   */
  readonly counted?: () => Promise<void> | undefined
}

/** Requests that are about to be sent with the key of a route that has limits. */
export interface KeyRequest {
  readonly route: Route
  readonly requests: number
  /** Returns the tokens that they may use; absent for further requests of an attempt, whose tokens are held. */
  readonly tokens?: () => TokenNeed
}

/** Permission to send requests with a key. */
export interface KeyPermit {
  /** Upper limit for the tokens of the requests, input included, when it is lower than their maximum. */
  readonly limitedToTokens?: number
  /**
   * Reports the tokens that were used of those that are held.
   * @param unsent permitted requests that were not sent, which are given back; absent: none.
   */
  settle(tokens: number, unsent?: number): void
  /** Gives everything back, since nothing was sent. */
  giveBack(): void
}

/** Permission to use a key, or the seconds after which it may be used again: infinite where the requests exceed its limit. */
export type KeyGrant = KeyPermit | { readonly waitS: number }

/** Checks limits, budgets and credits. Every API of the gateway goes through it, so they apply equally to all. */
export interface Admission {
  /**
   * Answers without waiting when neither a limit nor a budget applies to the caller.
   * @throws {ServiceError} `rate_limit_exceeded`, `budget_exceeded`, `credit_balance_exhausted`
   */
  admit(request: AdmissionRequest): Ticket | Promise<Ticket>
  /** Takes requests of a key, and holds their tokens. Absent: keys have no limits. */
  readonly admitKey?: ((request: KeyRequest) => Promise<KeyGrant>) | undefined
  /** Counts tokens that were used with a key without permission, whatever is left. Absent: keys have no limits. */
  readonly spendKey?: ((route: Route, tokens: number) => void) | undefined
}

const free: Ticket = { headers: [], settle: () => {} }

/** Admits every call; for tests and tools. */
export const openAdmission: Admission = { admit: () => free }
