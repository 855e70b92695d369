/**
 * By what a provider multiplies the prices of all tokens of a call, as its answer reports it. The source is Anthropic's
 * price page (platform.claude.com/docs, "Data residency pricing": 1.1 where a model runs in the US only, and "Fast mode
 * pricing", on top of which come those of the cache and of the region).
 */
export interface PriceFactor {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** Field of the usage, and the value for which the factor applies. */
  readonly field: 'inferenceGeo' | 'speed'
  readonly value: string
  /** Matches ids of models; absent: all other models of the provider. */
  readonly models?: RegExp
  readonly percent: number
}

/** Factors of prices. The first entry of a field that matches applies. */
export const priceFactors: readonly PriceFactor[] = [
  { provider: 'anthropic', field: 'inferenceGeo', value: 'us', percent: 110 },
  { provider: 'anthropic', field: 'speed', value: 'fast', models: /opus-4-[67]/, percent: 600 },
  { provider: 'anthropic', field: 'speed', value: 'fast', percent: 200 },
]
