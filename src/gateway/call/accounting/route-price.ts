import type { PriceRow } from '#gateway/prices/price-table.ts'
import { costOfUnits, priceAt, prices, reportsCharges } from '#gateway/prices/prices.ts'
import type { Usage } from '#gateway/prices/usage.ts'
import type { Route } from '../routes.ts'
import type { ChargedRoute } from './charge.ts'

const known = new WeakMap<ChargedRoute, { readonly row: PriceRow | undefined }>()

/**
 * Returns the prices of calls on a route: those set by the project, else those of the price list; undefined when it has
 * neither.
 */
export const routePrice = (route: ChargedRoute): PriceRow | undefined => {
  const found = known.get(route)
  if (found !== undefined) return found.row
  const row = ownRow(route) ?? priceAt(route.provider, route.model)
  known.set(route, { row })
  return row
}

/**
 * Returns the prices used to estimate the maximum cost of a call. For a route without a price whose provider reports
 * its charges afterwards, these are the list prices of the underlying model.
 */
export const heldPrice = (route: Route): PriceRow | undefined =>
  routePrice(route) ?? (reportsCharges(route.provider) ? underlying(route.model) : undefined)

/**
 * Returns the cost of a call: what the provider reports as its charge where it reports one, else by the prices of the
 * route.
 *
 * @returns USD as exact decimal text; null when the price is unknown.
 */
export const routeCost = (route: ChargedRoute, units: Usage): string | null => {
  const charged = units.tokens?.chargedUsd
  if (charged !== undefined && reportsCharges(route.provider)) return charged
  return costOfUnits(routePrice(route), units)
}

const ownRow = ({ ownPrices, provider, model }: ChargedRoute): PriceRow | undefined => {
  if (ownPrices === undefined) return undefined
  const listed = priceAt(provider, model)
  const { mode = 'chat', context = 0, capabilities = [], max_output } = listed ?? {}
  return {
    provider,
    id: model,
    mode,
    context,
    capabilities,
    ...(max_output !== undefined && { max_output }),
    ...ownPrices,
  }
}

/** List prices by the stem that all names of a model share; of several rows, the most expensive. */
const byStem = new Map<string, PriceRow>()

/**
 * Returns the list price of a model that a provider resells, as in `anthropic/claude-haiku-4.5:nitro`: the most
 * expensive one listed for its stem.
 */
const underlying = (model: string): PriceRow | undefined => {
  if (byStem.size === 0) {
    for (const row of prices.rows) {
      const stem = stemOf(row.id)
      const other = byStem.get(stem)
      if (row.mode === 'chat' && (other === undefined || Number(row.output) > Number(other.output)))
        byStem.set(stem, row)
    }
  }
  return byStem.get(stemOf(model))
}

/** Strips the vendor, the variant and all punctuation from a model name. */
const stemOf = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .split(':', 1)
    .join('')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
