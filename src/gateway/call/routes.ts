import type { UnitPrices } from '#gateway/prices/own-prices.ts'
import type { ProviderSettings } from '#specs/data/provider-credentials.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { PoolStrategy, RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import type { KeyLimits } from './pools/key-limits.ts'
import type { ProviderTimeouts } from './provider-timeouts.ts'

/** The kind of model that a gateway request requires. */
export type Need = 'chat' | 'vision' | 'embedding' | 'speech' | 'transcription' | 'image'

/**
 * Owner of the API key of a route: the project's own (`byok`: a provider connection), a server that the project
 * registered (`custom`), the installation's (`managed`), or none (`simulated`).
 */
export type KeySource = 'byok' | 'custom' | 'managed' | 'simulated'

/**
 * One route to a model for a project: provider, address and key. Immutable, and the same object from call to call, so
 * caches may key on it.
 */
export interface Route {
  /** The model under its provider's name, without a prefix. */
  readonly model: string
  /** Id of `specs/data/providers.ts`, or `custom:<id>`. */
  readonly provider: string
  readonly format: WireFormat
  /** Base URL up to the version segment, without a trailing slash. */
  readonly baseUrl: string
  /** A key, or the credentials of a cloud as JSON; null when the server requires none. Never shown, never logged. */
  readonly apiKey: string | null
  readonly source: KeySource
  /** Id of the provider connection or custom provider that owns the key. */
  readonly connectionId: string | null
  /** Where a cloud serves the models of the connection. */
  readonly settings?: ProviderSettings
  /** The name of the model on the wire, where it differs: that of its deployment. */
  readonly wireModel?: string
  /** Prices set by the project; absent: those of the price list. */
  readonly ownPrices?: UnitPrices
  /** Timeouts for silence of the provider; absent: those of the installation. */
  readonly waits?: ProviderTimeouts
  /** How calls are spread over the routes of this model that have it; absent for keys that are in no pool. */
  readonly pool?: PoolPolicy
  /** Share of the pool's calls; absent: 1. */
  readonly weight?: number
  /** Limits of the key over all its models; absent: none. */
  readonly keyLimits?: KeyLimits
}

/** How the calls of a model are spread over a project's provider connections. */
export interface PoolPolicy {
  readonly strategy: PoolStrategy
  readonly sticky: boolean
}

/** Finds the routes that can serve a model for a project. */
export interface Routes {
  /**
   * Returns the routes in the order in which to try them, the project's own keys before managed ones; never empty.
   * Synchronous when the cached data of the project is fresh, as it is for a project in steady use.
   *
   * Accepts a model id, `provider/model`, `custom:<id>/<model>`, `custom:<id>` (its first model) and the name of a
   * custom provider.
   * @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active`; param `model`.
   */
  resolve(project: string, model: string, need: Need): readonly Route[] | Promise<readonly Route[]>
  /** Returns the rules of the project's routing policy; absent: there are none. @throws {StoreUnavailable} */
  rules?(project: string): readonly RoutingRule[] | Promise<readonly RoutingRule[]>
}

/** The name of a route's model on the wire. */
export const wireModelOf = ({ model, wireModel }: Pick<Route, 'model' | 'wireModel'>): string => wireModel ?? model

/** Whether a server refuses what OpenAI's own refuses: it is OpenAI's, or runs its models on Azure. */
export const isStrictOpenAi = ({ format, baseUrl }: Pick<Route, 'format' | 'baseUrl'>): boolean =>
  format === 'azure' || format === 'bedrock' || isOwnOpenAi(baseUrl)

/**
 * Whether a URL is OpenAI's own server, which offers only the models of the price list; a compatible server may offer
 * any.
 */
export const isOwnOpenAi = (baseUrl: string): boolean => new URL(baseUrl).host === 'api.openai.com'
