import type { Payer } from './caller.ts'
import type { KeySource, Need } from './routes.ts'

/** A call that is about to be made. */
export interface AdmissionRequest {
  readonly caller: Payer
  readonly need: Need
  /** As the caller named it. */
  readonly model: string
  /** Whose key the first route has. */
  readonly source: KeySource
  /** USD that the call costs at most, as decimal text; null when it is unknown. Called only under a budget. */
  readonly mostUsd: () => string | null
  /** USD that its shortest answer costs; absent for a call that cannot be made cheaper. Called only when the most is too much. */
  readonly leastUsd?: () => string | null
}

/** Permission to make one call. */
export interface Ticket {
  /** `x-ratelimit-…` of the answer, and the like. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** USD that the call may cost, when that is less than the most it could; as decimal text. */
  readonly limitedToUsd?: string
  /** The call is over, whatever became of it. @param usd what it cost; null when nothing is known, '0' when nothing was used. */
  settle(usd: string | null): void
  /**
   * Resolves when what was settled is durable; undefined: there is nothing to wait for.
   * @throws {StoreUnavailable}
   */
  readonly counted?: () => Promise<void> | undefined
}

/** Limits, budgets and credits, the same on every path form because each of them comes by here. */
export interface Admission {
  /**
   * Answers without waiting where neither limit nor budget stands for the caller.
   * @throws {ServiceError} `rate_limit_exceeded`, `budget_exceeded`, `credit_balance_exhausted`
   */
  admit(request: AdmissionRequest): Ticket | Promise<Ticket>
}

const free: Ticket = { headers: [], settle: () => {} }

/** Admits every call; for tests and tools. */
export const openAdmission: Admission = { admit: () => free }
