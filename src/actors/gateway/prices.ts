import { readFileSync } from 'node:fs'
import { Decimal } from 'decimal.js'
import { type PriceRow, type PriceTable, type PriceTier, priceTable } from './price-table.ts'
import type { ModelUsage } from './provider-port.ts'

/** The snapshot that the server was built with; `specs/decisions/0030-models-and-prices.md` says where it comes from. */
export const prices: PriceTable = priceTable(
  JSON.parse(readFileSync(new URL('../../../specs/prices.json', import.meta.url), 'utf8')),
)

/** Prices and limits of a model, by its own id or `provider/id`; undefined when the snapshot does not know it. */
export function priceOf(model: string): PriceRow | undefined {
  const id = model.replace(/^(?:openai|anthropic|google|gemini|simulated)\//, '')
  const row = Object.hasOwn(prices.models, id) ? prices.models[id] : undefined
  if (row === undefined && id.startsWith('simulated')) return prices.models['simulated-1']
  return row
}

/**
 * What a call cost, in USD, as exact decimal text without an exponent.
 *
 * @returns null when the price is unknown: never 0, which would say that it was free.
 */
export function costOf(model: string, usage: ModelUsage): string | null {
  const row = priceOf(model)
  return row === undefined ? null : costBy(row, usage)
}

function costBy(row: PriceRow, usage: ModelUsage): string | null {
  const { input, cached, output, reasoning } = ratesFor(row, usage.inputTokens)
  const cachedTokens = Math.min(usage.cachedTokens, usage.inputTokens)
  const reasoningTokens = Math.min(usage.reasoningTokens, usage.outputTokens)
  if (usage.outputTokens > 0 && output === undefined) return null
  const parts: readonly (readonly [rate: string, tokens: number])[] = [
    [input, usage.inputTokens - cachedTokens],
    [cached ?? input, cachedTokens],
    [output ?? '0', usage.outputTokens - reasoningTokens],
    [reasoning ?? output ?? '0', reasoningTokens],
  ]
  let total = new Decimal(0)
  for (const [rate, tokens] of parts) if (tokens !== 0) total = total.plus(new Decimal(rate).times(tokens))
  return total.toFixed()
}

interface Rates {
  readonly input: string
  readonly cached: string | undefined
  readonly output: string | undefined
  readonly reasoning: string | undefined
}

/** A long input moves the whole call to the tier's prices; what a tier does not name stays. */
function ratesFor(row: PriceRow, inputTokens: number): Rates {
  const tier: Partial<PriceTier> = row.tiers?.findLast(({ above }) => inputTokens > above) ?? {}
  return {
    input: tier.input ?? row.input,
    cached: tier.cached ?? (tier.input === undefined ? row.cached : undefined),
    output: tier.output ?? row.output,
    reasoning: tier.output ?? row.reasoning,
  }
}
