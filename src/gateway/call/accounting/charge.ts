import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { Route } from '../routes.ts'

/** What of a route its calls are charged by; its key stays behind. */
export type ChargedRoute = Pick<Route, 'provider' | 'model' | 'source' | 'ownPrices'>

/** What an answer of a model is charged by. */
export interface Charge {
  /** The route that answered: its model is the one that was requested there, as its provider knows it. */
  readonly route: ChargedRoute
  readonly usage: TokenUsage
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
}
