import { providers } from '../specs/data/providers.ts'
import { type OwnPrices, ownPriceNames } from '../specs/own-prices.ts'
import { type EnvironmentReader, httpUrlOf, matching } from './environment-reader.ts'

/** Settings of a model provider from the environment. */
export interface ProviderSettings {
  /** '' for a self-hosted server that takes no key. */
  readonly apiKey: string
  /** Without a trailing slash; absent: the provider's own URL. */
  readonly baseUrl?: string
  /** Prices that replace those of the price list. */
  readonly prices?: OwnPrices
  readonly limits?: ProviderLimits
}

/** What a key may be used for in any 60 seconds. */
interface ProviderLimits {
  readonly requests_per_minute?: number
  readonly tokens_per_minute?: number
}

/** A provider is available if it has a key. Servers with OpenAI's API may need none: a base URL is enough there. */
export const providersOf = (read: EnvironmentReader): Readonly<Record<string, ProviderSettings>> => {
  const found: Record<string, ProviderSettings> = {}
  for (const { id, env, baseUrl: usual, byConnection, keyless: local } of providers) {
    if (id === 'simulated' || byConnection === true) continue
    const apiKey = read.value(`${env}_API_KEY`, matching(/^[\x21-\x7e]+$/), 'a key without spaces')
    const baseUrl = read.value(`${env}_BASE_URL`, httpUrlOf, 'an http:// or https:// URL')
    const keyless = (id === 'openai' || local === true) && baseUrl !== undefined
    if (apiKey === undefined && !keyless) continue
    if (baseUrl === undefined && usual.includes('{'))
      read.problems.push(`${env}_BASE_URL must be set beside ${env}_API_KEY`)
    const prices = read.value(`${env}_PRICES`, pricesOf, 'prices such as input_per_million_usd=0.2,call_usd=0.01')
    const limits = read.value(
      `${env}_LIMITS`,
      limitsOf,
      'limits such as requests_per_minute=500,tokens_per_minute=200000',
    )
    found[id] = Object.freeze({
      apiKey: apiKey ?? '',
      ...(baseUrl !== undefined && { baseUrl }),
      ...(prices !== undefined && { prices }),
      ...(limits !== undefined && { limits }),
    })
  }
  return Object.freeze(found)
}

/** Parses values by name; undefined for another name or value. */
const valuesOf = (text: string, names: ReadonlySet<string>, value: RegExp): Record<string, string> | undefined => {
  const pairs = text.split(',').map((pair) => pair.trim().split('='))
  return pairs.every(([name = '', given = '']) => names.has(name) && value.test(given))
    ? Object.fromEntries(pairs)
    : undefined
}

/** Parses prices by name, for models that the price list does not have. */
const pricesOf = (text: string): OwnPrices | undefined => valuesOf(text, ownPriceNames, /^\d{1,9}(\.\d{1,12})?$/)

const limitNames: ReadonlySet<string> = new Set(['requests_per_minute', 'tokens_per_minute'])

/** Parses what a key may be used for in a minute. */
const limitsOf = (text: string): ProviderLimits | undefined => {
  const values = valuesOf(text, limitNames, /^[1-9]\d{0,8}$/)
  return values && Object.fromEntries(Object.entries(values).map(([name, count]) => [name, Number(count)]))
}
