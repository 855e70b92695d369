import type { PriceRow } from '#gateway/prices/price-table.ts'
import { costOfUnits, priceAt, prices, reportsCharges } from '#gateway/prices/prices.ts'
import type { Usage } from '#gateway/prices/usage.ts'
import type { Route } from '../routes.ts'
import type { ChargedRoute } from './charge.ts'

const known = new WeakMap<ChargedRoute, { readonly row: PriceRow | undefined }>()

/** The prices by which calls on a route are charged: those that the project has set, else the list's; undefined for none. */
export const routePrice = (route: ChargedRoute): PriceRow | undefined => {
  const found = known.get(route)
  if (found !== undefined) return found.row
  const row = ownRow(route) ?? priceAt(route.provider, route.model)
  known.set(route, { row })
  return row
}

/** What calls on a route can cost, where its own price is not known: a provider that passes calls on reports its charge afterwards. */
export const heldPrice = (route: Route): PriceRow | undefined =>
  routePrice(route) ?? (reportsCharges(route.provider) ? underlying(route.model) : undefined)

/**
 * What a call cost: by the word of its provider where that says what it charges, else by the prices of the route.
 *
 * @returns USD as exact decimal text; null when the price is unknown.
 */
export const routeCost = (route: Route, units: Usage): string | null => {
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

/** Rows by what is the same in all names of a model, the dearest of several. */
const byStem = new Map<string, PriceRow>()

/** The list price of a model that a provider passes on, as in `anthropic/claude-haiku-4.5:nitro`: the dearest that is listed. */
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

/** Without who makes or sells it, its variant, and marks between words. */
const stemOf = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .split(':', 1)
    .join('')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
