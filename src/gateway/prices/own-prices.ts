import { Decimal } from 'decimal.js'
import type { OwnPrices } from '#specs/own-prices.ts'
import type { PriceRow } from './price-table.ts'

/** Prices by unit, with the field names of the price list. */
export type UnitPrices = Pick<PriceRow, 'input' | 'output' | 'cached' | 'character' | 'second' | 'image' | 'call'>

/** Maximum decimal places of a price. */
const digits = 18

/**
 * Converts a customer's own prices to prices by unit; undefined when there are none. When input or output tokens, or
 * calls, have a price, tokens without one are free.
 */
export const unitPrices = (own: OwnPrices | null | undefined): UnitPrices | undefined => {
  if (own === null || own === undefined) return undefined
  const input = millionth(own.input_per_million_usd)
  const output = millionth(own.output_per_million_usd)
  const cached = millionth(own.cached_input_per_million_usd)
  const character = millionth(own.characters_per_million_usd)
  const { audio_minute_usd: minute, image_usd: image, call_usd: call } = own
  const byToken = input !== undefined || output !== undefined || typeof call === 'string'
  return {
    ...(byToken && { input: input ?? '0', output: output ?? '0' }),
    ...(cached !== undefined && { cached }),
    ...(character !== undefined && { character }),
    ...(typeof minute === 'string' && { second: text(new Decimal(minute).dividedBy(60)) }),
    ...(typeof image === 'string' && { image }),
    ...(typeof call === 'string' && { call }),
  }
}

const millionth = (usd: string | null | undefined): string | undefined =>
  typeof usd === 'string' ? text(new Decimal(usd).times('0.000001')) : undefined

const text = (usd: Decimal): string => usd.toDecimalPlaces(digits).toFixed()
