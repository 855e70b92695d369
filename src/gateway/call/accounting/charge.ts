import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { Route } from '../routes.ts'

/** The fields of a route that determine what its calls cost, without the API key. */
export type ChargedRoute = Pick<Route, 'provider' | 'model' | 'source' | 'ownPrices'>

/** The charge for one answer of a model. */
export interface Charge {
  /** The route that answered. Its `model` is the model requested there, under the provider's name. */
  readonly route: ChargedRoute
  readonly usage: TokenUsage
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
}
