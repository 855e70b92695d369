import { Decimal } from 'decimal.js'

const million = 1_000_000

/** Converts a unit price to USD per million; 0 when the row has no such price. */
export const perMillion = (price: string | undefined): Decimal => new Decimal(price ?? 0).times(million)

/** Formats USD as `$0.15`: with at least two decimal places, and up to six where needed. */
export const usdDisplay = (amount: Decimal): string => {
  const digits = Math.min(6, Math.max(2, amount.decimalPlaces()))
  return `$${amount.toFixed(digits)}`
}

/** Formats a token price as `$0.15 per 1M`. */
export const tokenDisplay = (amount: Decimal): string => `${usdDisplay(amount)} per 1M`

/** Formats an image price as `$0.04 per img`. */
export const imageDisplay = (amount: string): string => `${usdDisplay(new Decimal(amount))} per img`

/** Formats a context window as vendors do: `128K` for both 128,000 and 131,072, `1M`, `1.5M`; `unknown` for 0. */
export const contextDisplay = (tokens: number): string => {
  if (tokens === 0) return 'unknown'
  if (tokens < 1000) return String(tokens)
  const isBinary = tokens % 1000 !== 0 && tokens % 1024 === 0
  const thousand = isBinary ? 1024 : 1000
  const thousands = Math.round(tokens / thousand)
  if (thousands < thousand) return `${thousands}K`
  return `${Number((tokens / thousand ** 2).toFixed(1))}M`
}
