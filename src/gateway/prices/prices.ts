import { readFileSync } from 'node:fs'
import { Decimal } from 'decimal.js'
import { priceFactors } from '#specs/data/price-factors.ts'
import { providers } from '#specs/data/providers.ts'
import { type SearchPrice, searchPrices } from '#specs/data/search-prices.ts'
import { type Attodollars, attodollars, usdText } from './attodollars.ts'
import { type PriceRow, type PriceTable, type PriceTier, priceTable } from './price-table.ts'
import { simulatedWindow } from './simulated-window.ts'
import type { TokenUsage, Usage } from './usage.ts'

/** The price snapshot that is part of this release; `specs/decisions/0030-models-and-prices.md` states its source. */
export const prices: PriceTable = priceTable(
  JSON.parse(readFileSync(new URL('../../../specs/data/prices.json', import.meta.url), 'utf8')),
)

/** Returns prices and limits of a model at one provider; undefined when the snapshot does not have it. */
export function priceAt(provider: string, model: string): PriceRow | undefined {
  const models = prices.byProvider.get(provider)
  return models?.get(model) ?? (provider === 'simulated' ? simulatedRow(models?.get('simulated-1'), model) : undefined)
}

/** All simulated models have the same prices. A context window in the name replaces the default one. */
const simulatedRow = (row: PriceRow | undefined, model: string): PriceRow | undefined => {
  const context = simulatedWindow(model)
  return row === undefined || context === null ? row : { ...row, context }
}

/**
 * Returns prices and limits of a model by `provider/id`, or by its id alone; when several providers sell the id, those
 * of the first in `specs/data/providers.ts`. Undefined when the snapshot does not have the model.
 */
export function priceOf(model: string): PriceRow | undefined {
  const slash = model.indexOf('/')
  const named = slash > 0 ? priceAt(model.slice(0, slash), model.slice(slash + 1)) : undefined
  const row = named ?? prices.byId.get(model)
  return row === undefined && model.startsWith('simulated') ? priceAt('simulated', model) : row
}

/**
 * Returns the cost of a call of any kind in USD, as exact decimal text without an exponent, by a row of the snapshot
 * (`priceAt(route.provider, route.model)`).
 *
 * Only one unit of the usage is charged: the first of images, characters, seconds and tokens that the row has a price
 * for. Speech is thus charged by characters, transcription by the duration that the provider reported, and either by
 * tokens only when nothing else is priced.
 *
 * @returns null when the price is unknown; never 0, which would mean that the call was free.
 */
export function costOfUnits(row: PriceRow | undefined, units: Usage): string | null {
  if (row === undefined) return null
  const { images, characters, seconds, tokens } = units
  if (images !== undefined && row.image !== undefined) return times(row.image, images)
  if (characters !== undefined && row.character !== undefined) return times(row.character, characters)
  if (seconds !== undefined && row.second !== undefined) return times(row.second, seconds)
  return tokens === undefined ? null : costOfTokens(row, tokens)
}

/** Whether a provider's responses report what it charged (OpenRouter, whose price depends on where it forwards a request). */
export const reportsCharges = (provider: string): boolean => reportCharges.has(provider)

const reportCharges: ReadonlySet<string> = new Set(
  providers.flatMap(({ id, reportsCharges }) => (reportsCharges ? [id] : [])),
)

/** Converts the prices of a row to the form stored in usage rows: USD by unit, and the date of the price list. */
export function priceSnapshot(row: PriceRow): PriceSnapshot {
  const { input, output, cached, cacheWrite, cacheWriteLong, reasoning, character, second, image, call, tiers } = row
  const { audioInput, audioCached, audioOutput, imageInput, imageCached } = row
  return {
    date: prices.date,
    currency: prices.currency,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(cached !== undefined && { cached }),
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(cacheWriteLong !== undefined && { cache_write_long: cacheWriteLong }),
    ...(reasoning !== undefined && { reasoning }),
    ...(audioInput !== undefined && { audio_input: audioInput }),
    ...(audioCached !== undefined && { audio_cached: audioCached }),
    ...(audioOutput !== undefined && { audio_output: audioOutput }),
    ...(imageInput !== undefined && { image_input: imageInput }),
    ...(imageCached !== undefined && { image_cached: imageCached }),
    ...(character !== undefined && { character }),
    ...(second !== undefined && { second }),
    ...(image !== undefined && { image }),
    ...(call !== undefined && { call }),
    ...(tiers !== undefined && { tiers: tiers.map((tier) => ({ ...tier })) }),
  }
}

/** The JSON returned by `priceSnapshot`. */
export type PriceSnapshot = { readonly [field: string]: string | Record<string, string | number>[] }

/** Decimals with as many digits as a number and a price have together, since seconds have fractions. */
const Exact = Decimal.clone({ precision: 40 })

const times = (rate: string, count: number): string => new Exact(rate).times(count).toFixed()

/** Returns the fees for web searches of the provider. */
const searchFees = ({ provider, id }: PriceRow, { searches = 0, previewSearches = 0 }: TokenUsage): Attodollars => {
  const feeOf = (preview: boolean, count: number): Attodollars => {
    const fits = (price: SearchPrice) => (price.preview ?? false) === preview && (price.models?.test(id) ?? true)
    const sold = searchPrices.filter((price) => price.provider === provider)
    const price = sold.find(fits) ?? sold.find(({ models, preview: only }) => !models && !only)
    return attodollars(price?.usd ?? '0') * BigInt(price?.once ? Math.min(1, count) : count)
  }
  return feeOf(false, searches) + feeOf(true, previewSearches)
}

/** Returns an amount by what the place and the speed of the call multiply it. */
const multiplied = (amount: Attodollars, { provider, id }: PriceRow, usage: TokenUsage): Attodollars => {
  const fields = new Set(priceFactors.filter(({ field, value }) => usage[field] === value).map(({ field }) => field))
  const factors = [...fields].flatMap((name) => {
    const sold = priceFactors.filter((factor) => factor.provider === provider && factor.field === name)
    return sold.find(({ models }) => models?.test(id) ?? true) ?? []
  })
  return factors.reduce((sum, { percent }) => (sum * BigInt(percent)) / 100n, amount)
}

function costOfTokens(row: PriceRow, usage: TokenUsage): string | null {
  const rates = ratesFor(row, usage.inputTokens)
  if (rates === null || (usage.outputTokens > 0 && rates.output === null)) return null
  const cached = Math.min(usage.cachedTokens, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached)
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens)
  let total = rates.call + rates.input * BigInt(usage.inputTokens - cached - written)
  if (usage.audioInputTokens !== undefined || usage.audioOutputTokens !== undefined)
    total += audioSurcharge(rates, usage)
  const known = Math.min(usage.imageCachedTokens ?? 0, cached)
  const images = Math.min((usage.imageInputTokens ?? 0) - known, usage.inputTokens - cached - written)
  if (images > 0) total += (rates.imageInput - rates.input) * BigInt(images)
  if (known > 0) total += (rates.imageCached - rates.cached) * BigInt(known)
  if (cached > 0) total += rates.cached * BigInt(cached)
  if (written > 0) {
    const long = Math.min(usage.cacheWriteLongTokens ?? 0, written)
    total += rates.cacheWrite * BigInt(written - long) + rates.cacheWriteLong * BigInt(long)
  }
  if (rates.output !== null) total += rates.output * BigInt(usage.outputTokens - reasoning)
  if (reasoning > 0) total += rates.reasoning * BigInt(reasoning)
  if (usage.inferenceGeo !== undefined || usage.speed !== undefined) total = multiplied(total, row, usage)
  if (usage.searches !== undefined || usage.previewSearches !== undefined) total += searchFees(row, usage)
  return usdText(total)
}

/** Returns the price difference between audio tokens and text tokens; may be negative. Reasoning is text. */
function audioSurcharge(rates: Rates, usage: TokenUsage): Attodollars {
  const { inputTokens, cachedTokens, audioInputTokens = 0, audioCachedTokens = 0, audioOutputTokens = 0 } = usage
  const cached = Math.min(audioCachedTokens, audioInputTokens, cachedTokens, inputTokens)
  const heard = Math.min(
    audioInputTokens - cached,
    Math.max(0, inputTokens - cachedTokens - (usage.cacheWriteTokens ?? 0)),
  )
  const spoken = Math.min(audioOutputTokens, Math.max(0, usage.outputTokens - usage.reasoningTokens))
  const { input, output, audioInput, audioCached, audioOutput } = rates
  const more = (audioInput - input) * BigInt(heard) + (audioCached - rates.cached) * BigInt(cached)
  return output === null || audioOutput === null ? more : more + (audioOutput - output) * BigInt(spoken)
}

/** Prices per token of each kind; null when unknown. */
interface Rates {
  readonly above: number
  readonly input: Attodollars
  readonly cached: Attodollars
  readonly cacheWrite: Attodollars
  readonly cacheWriteLong: Attodollars
  readonly output: Attodollars | null
  readonly reasoning: Attodollars
  readonly audioInput: Attodollars
  readonly audioCached: Attodollars
  readonly audioOutput: Attodollars | null
  readonly imageInput: Attodollars
  readonly imageCached: Attodollars
  /** Price per call. */
  readonly call: Attodollars
}

/** Cached rates of each row used so far, highest tier first; empty when tokens have no price. */
const known = new WeakMap<PriceRow, readonly Rates[]>()

/** Returns the rates for an input length; beyond a tier's threshold, its prices apply to the whole call. */
function ratesFor(row: PriceRow, inputTokens: number): Rates | null {
  let rates = known.get(row)
  if (rates === undefined) {
    rates = row.input === undefined ? [] : ratesOf(row, row.input)
    known.set(row, rates)
  }
  if (rates.length === 1) return rates[0] ?? null
  return rates.find(({ above }) => inputTokens > above) ?? null
}

const ratesOf = (row: PriceRow, input: string): readonly Rates[] => {
  const tiers: readonly PriceTier[] = [{ above: -1 }, ...(row.tiers ?? [])]
  return tiers.map((tier) => tierRates(row, input, tier)).toReversed()
}

/** Prices that a tier does not set are taken from the row, except cache prices when the tier sets an input price. */
const tierRates = (row: PriceRow, plainInput: string, tier: PriceTier): Rates => {
  const input = tier.input ?? plainInput
  const output = tier.output ?? row.output
  const cached = tier.cached ?? (tier.input === undefined ? row.cached : undefined)
  const cacheWrite = tier.cacheWrite ?? (tier.input === undefined ? row.cacheWrite : undefined)
  const cacheWriteLong = tier.cacheWriteLong ?? (tier.input === undefined ? row.cacheWriteLong : undefined)
  return {
    above: tier.above,
    input: attodollars(input),
    cached: attodollars(cached ?? input),
    cacheWrite: attodollars(cacheWrite ?? input),
    cacheWriteLong: attodollars(cacheWriteLong ?? cacheWrite ?? input),
    output: output === undefined ? null : attodollars(output),
    reasoning: attodollars(tier.output ?? row.reasoning ?? output ?? '0'),
    audioInput: attodollars(row.audioInput ?? input),
    audioCached: attodollars(row.audioCached ?? cached ?? row.audioInput ?? input),
    audioOutput: output === undefined ? null : attodollars(row.audioOutput ?? output),
    imageInput: attodollars(row.imageInput ?? input),
    imageCached: attodollars(row.imageCached ?? cached ?? row.imageInput ?? input),
    call: attodollars(row.call ?? '0'),
  }
}
