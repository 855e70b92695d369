import { Decimal } from 'decimal.js'
import type { OwnPrices } from '#specs/own-prices.ts'
import type { PriceRow } from './price-table.ts'

/** Prices by unit, as rows of the price list have them. */
export type UnitPrices = Pick<PriceRow, 'input' | 'output' | 'cached' | 'character' | 'second' | 'image' | 'call'>

/** Digits of a price behind its point. */
const digits = 18

/** The same by unit; absent for none. Where tokens of one kind have a price, those of the other are free unless they have one. */
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
