import { type ProviderSpec, providers } from '#specs/data/providers.ts'
import type { OwnPrices } from '#specs/own-prices.ts'
import { keyLimitsOf, type StoredKeyLimits } from '../call/pools/key-limits.ts'
import { isOwnOpenAi, type Route } from '../call/routes.ts'
import { unitPrices } from '../prices/own-prices.ts'
import { missingSettings, versionedUrl } from './base-url.ts'

/** API key and base URL of a provider, from the environment. */
export interface ProviderKeys {
  /** '' or undefined for a server that requires none. */
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
  /** Override the prices of the price list. */
  readonly prices?: OwnPrices | undefined
  /** What the key may be used for in a minute, over all projects. */
  readonly limits?: StoredKeyLimits | undefined
}

/** The providers that the installation pays for. */
export interface ManagedConfig {
  /** By id of `specs/data/providers.ts`. */
  readonly keys: Readonly<Record<string, ProviderKeys>>
  /** `auto`: on when nothing else is configured. */
  readonly simulated: 'auto' | 'on' | 'off'
  /** Base URL of the running simulated provider; required when `simulatedWanted` returns true. */
  readonly simulatedUrl?: string | undefined
}

/** Address and key of a provider: everything of a route except the model. */
export type Endpoint = Omit<Route, 'model'>

const openAi = 'openai'
const simulated = 'simulated'

const defaultModels: readonly (readonly [provider: string, model: string])[] = [
  ['openai', 'gpt-4o-mini'],
  ['anthropic', 'claude-haiku-4-5'],
  ['google', 'gemini-2.5-flash'],
  ['groq', 'llama-3.3-70b-versatile'],
  ['mistral', 'mistral-small-latest'],
  ['deepseek', 'deepseek-chat'],
  ['xai', 'grok-3-mini'],
  ['perplexity', 'sonar'],
  ['cerebras', 'llama3.1-8b'],
  ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo'],
  ['fireworks', 'accounts/fireworks/models/llama-v3p3-70b-instruct'],
  ['openrouter', 'openai/gpt-4o-mini'],
  [simulated, 'simulated-1'],
]

/** Whether the simulated provider has to be started before `ManagedProviders` is created. */
export const simulatedWanted = (config: Pick<ManagedConfig, 'keys' | 'simulated'>): boolean =>
  config.simulated === 'on' || (config.simulated === 'auto' && !providers.some((spec) => isConfigured(config, spec)))

/** The endpoints of the installation's own keys. */
export class ManagedProviders {
  readonly #endpoints: ReadonlyMap<string, Endpoint>
  /** Route for unknown model ids: the operator's own server named by `OPENAI_BASE_URL`; null when there is none. */
  readonly compatible: Endpoint | null
  /** Default model of turns that name none. */
  readonly defaultModel: string
  /** Whether answers are simulated because no provider has a key. */
  readonly onlySimulated: boolean

  constructor(config: ManagedConfig) {
    const named = providers.filter((spec) => isConfigured(config, spec))
    const endpoints = named.map((spec) => endpointOf(spec, config.keys[spec.id] ?? {}))
    if (simulatedWanted(config)) endpoints.push(simulatedEndpoint(config))
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.provider, endpoint]))
    const own = this.#endpoints.get(openAi)
    this.compatible = own === undefined || isOwnOpenAi(own.baseUrl) ? null : own
    this.defaultModel = defaultModels.find(([provider]) => this.#endpoints.has(provider))?.[1] ?? 'simulated-1'
    this.onlySimulated = [...this.#endpoints.keys()].join() === simulated
  }

  /** Returns undefined for a provider without a key. */
  of(provider: string): Endpoint | undefined {
    return this.#endpoints.get(provider)
  }
}

/**
 * Whether a provider is configured. An operator's own OpenAI-compatible server may require no key, so a base URL other
 * than OpenAI's is enough.
 */
const isConfigured = ({ keys }: Pick<ManagedConfig, 'keys'>, spec: ProviderSpec): boolean => {
  const { id, format, keyless } = spec
  const { apiKey = '', baseUrl } = keys[id] ?? {}
  // the address of a cloud contains the account of its customer
  if (id === simulated || missingSettings(baseUrl ?? spec.baseUrl).length > 0) return false
  if (keyless === true && baseUrl !== undefined) return true
  return apiKey !== '' || (id === openAi && format === openAi && baseUrl !== undefined && !isOwnOpenAi(baseUrl))
}

const endpointOf = (spec: ProviderSpec, { apiKey = '', baseUrl, prices, limits = {} }: ProviderKeys): Endpoint => {
  const ownPrices = unitPrices(prices)
  const keyLimits = keyLimitsOf(limits)
  const made: Endpoint = {
    ...{ provider: spec.id, format: spec.format, baseUrl: versionedUrl(spec.format, baseUrl ?? spec.baseUrl) },
    ...{ apiKey: apiKey === '' ? null : apiKey, source: 'managed', connectionId: null },
  }
  return { ...made, ...(ownPrices && { ownPrices }), ...(keyLimits && { keyLimits }) }
}

const simulatedEndpoint = ({ simulatedUrl }: ManagedConfig): Endpoint => {
  if (simulatedUrl === undefined) throw new Error('the simulated provider is wanted and has no URL')
  return {
    ...{ provider: simulated, format: openAi, baseUrl: simulatedUrl },
    ...{ apiKey: null, source: 'simulated', connectionId: null },
  }
}
