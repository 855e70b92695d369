/**
 * USD in units of 10⁻¹⁸, so that tokens times a price is one exact integer multiplication. No price in the snapshot has
 * more digits (price-table.ts enforces it).
 */
export type Attodollars = bigint

const digits = 18
const zero = '0'

/** Parses plain decimal text with at most 18 decimal places. */
export const attodollars = (text: string): Attodollars => {
  const [whole = zero, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(digits, zero))
}

/** Formats an amount as decimal text without an exponent or trailing zeros. @param amount not negative */
export const usdText = (amount: Attodollars): string => {
  if (amount === 0n) return zero
  const text = amount.toString().padStart(digits + 1, zero)
  let end = text.length
  while (text[end - 1] === zero && end > text.length - digits) end -= 1
  const whole = text.slice(0, -digits)
  const fraction = text.slice(-digits, end)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
