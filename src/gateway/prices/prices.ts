import { readFileSync } from 'node:fs'
import { Decimal } from 'decimal.js'
import { providers } from '#specs/data/providers.ts'
import { type SearchPrice, searchPrices } from '#specs/data/search-prices.ts'
import { type Attodollars, attodollars, usdText } from './attodollars.ts'
import { type PriceRow, type PriceTable, type PriceTier, priceTable } from './price-table.ts'
import { simulatedWindow } from './simulated-window.ts'
import type { TokenUsage, Usage } from './usage.ts'

/** The snapshot that the server was built with; `specs/decisions/0030-models-and-prices.md` says where it comes from. */
export const prices: PriceTable = priceTable(
  JSON.parse(readFileSync(new URL('../../../specs/data/prices.json', import.meta.url), 'utf8')),
)

/** Prices and limits of a model as one provider sells it; undefined when the snapshot does not know it. */
export function priceAt(provider: string, model: string): PriceRow | undefined {
  const models = prices.byProvider.get(provider)
  return models?.get(model) ?? (provider === 'simulated' ? simulatedRow(models?.get('simulated-1'), model) : undefined)
}

/** Every simulated model is priced alike; one whose name says its window has that. */
const simulatedRow = (row: PriceRow | undefined, model: string): PriceRow | undefined => {
  const context = simulatedWindow(model)
  return row === undefined || context === null ? row : { ...row, context }
}

/**
 * Prices and limits of a model by `provider/id`, or by its id alone; of several providers that sell the id, the first of
 * `specs/data/providers.ts`. Undefined when the snapshot does not know it.
 */
export function priceOf(model: string): PriceRow | undefined {
  const slash = model.indexOf('/')
  const named = slash > 0 ? priceAt(model.slice(0, slash), model.slice(slash + 1)) : undefined
  const row = named ?? prices.byId.get(model)
  return row === undefined && model.startsWith('simulated') ? priceAt('simulated', model) : row
}

/**
 * What a call of any kind cost, in USD, as exact decimal text without an exponent, by a row of the snapshot
 * (`priceAt(route.provider, route.model)`).
 *
 * Of several units that the call counts, one is charged: images; characters; seconds; tokens, in this order, the first
 * that the row has a price for. So speech is charged by its characters, transcription by the minutes
 * that the provider reported, and by tokens only where nothing else is priced.
 *
 * @returns null when the price is unknown: never 0, which would say that it was free.
 */
export function costOfUnits(row: PriceRow | undefined, units: Usage): string | null {
  if (row === undefined) return null
  const { images, characters, seconds, tokens } = units
  if (images !== undefined && row.image !== undefined) return times(row.image, images)
  if (characters !== undefined && row.character !== undefined) return times(row.character, characters)
  if (seconds !== undefined && row.second !== undefined) return times(row.second, seconds)
  return tokens === undefined ? null : costOfTokens(row, tokens)
}

/**
 * What a call cost by the word of its provider where that says what it charges (OpenRouter, whose prices move with whom
 * it passes a request on to), else by the snapshot's row.
 */
export function costAt(provider: string, model: string, units: Usage): string | null {
  const charged = units.tokens?.chargedUsd
  if (charged !== undefined && reportCharges.has(provider)) return charged
  return costOfUnits(priceAt(provider, model), units)
}

/** Whether a provider reports in its answers what it charged. */
export const reportsCharges = (provider: string): boolean => reportCharges.has(provider)

const reportCharges: ReadonlySet<string> = new Set(
  providers.flatMap(({ id, reportsCharges }) => (reportsCharges ? [id] : [])),
)

/** The prices of a row as usage rows keep them: USD by unit, and the day of the list that they are of. */
export function priceSnapshot(row: PriceRow): PriceSnapshot {
  const { input, output, cached, cacheWrite, cacheWriteLong, reasoning, character, second, image, call, tiers } = row
  const { audioInput, audioCached, audioOutput } = row
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
    ...(character !== undefined && { character }),
    ...(second !== undefined && { second }),
    ...(image !== undefined && { image }),
    ...(call !== undefined && { call }),
    ...(tiers !== undefined && { tiers: tiers.map((tier) => ({ ...tier })) }),
  }
}

/** JSON of `priceSnapshot`. */
export type PriceSnapshot = { readonly [field: string]: string | Record<string, string | number>[] }

/** Seconds come with fractions: as many digits as a number and a price have together. */
const Exact = Decimal.clone({ precision: 40 })

const times = (rate: string, count: number): string => new Exact(rate).times(count).toFixed()

/** Fees of the searches that a provider made. */
const searchFees = ({ provider, id }: PriceRow, { searches = 0, previewSearches = 0 }: TokenUsage): Attodollars => {
  const feeOf = (preview: boolean, count: number): Attodollars => {
    const fits = (price: SearchPrice) => (price.preview ?? false) === preview && (price.models?.test(id) ?? true)
    const sold = searchPrices.filter((price) => price.provider === provider)
    const price = sold.find(fits) ?? sold.find(({ models, preview: only }) => !models && !only)
    return attodollars(price?.usd ?? '0') * BigInt(price?.once ? Math.min(1, count) : count)
  }
  return feeOf(false, searches) + feeOf(true, previewSearches)
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
  if (cached > 0) total += rates.cached * BigInt(cached)
  if (written > 0) {
    const long = Math.min(usage.cacheWriteLongTokens ?? 0, written)
    total += rates.cacheWrite * BigInt(written - long) + rates.cacheWriteLong * BigInt(long)
  }
  if (rates.output !== null) total += rates.output * BigInt(usage.outputTokens - reasoning)
  if (reasoning > 0) total += rates.reasoning * BigInt(reasoning)
  if (usage.searches !== undefined || usage.previewSearches !== undefined) total += searchFees(row, usage)
  return usdText(total)
}

/** What audio among the tokens costs more than text, or less. Reasoning is written, not spoken. */
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

/** A token of each kind; null where it is not known. */
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
  /** The call itself. */
  readonly call: Attodollars
}

/** Rates of each requested row, longest input first; empty where tokens have no price. */
const known = new WeakMap<PriceRow, readonly Rates[]>()

/** A long input moves the whole call to the tier's prices. */
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

/** What a tier does not name stays, except the prices of the cache beside an input that the tier does name. */
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
    call: attodollars(row.call ?? '0'),
  }
}
