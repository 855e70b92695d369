import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { Route } from '../routes.ts'

/** What an answer of a model is charged by. */
export interface Charge {
  /** The route that answered: its model is the one that was requested there, as its provider knows it. */
  readonly route: Route
  readonly usage: TokenUsage
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
}
