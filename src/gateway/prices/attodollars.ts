/**
 * USD in units of 10⁻¹⁸, so that tokens times a price is one exact multiplication of whole numbers. No price in the
 * snapshot has more digits (price-table.ts holds it to that).
 */
export type Attodollars = bigint

const digits = 18
const zero = '0'

/** Reads plain decimal text of at most 18 digits behind the point. */
export const attodollars = (text: string): Attodollars => {
  const [whole = zero, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(digits, zero))
}

/** Decimal text without an exponent and without zeros at its end. @param amount not negative */
export const usdText = (amount: Attodollars): string => {
  if (amount === 0n) return zero
  const text = amount.toString().padStart(digits + 1, zero)
  let end = text.length
  while (text[end - 1] === zero && end > text.length - digits) end -= 1
  const whole = text.slice(0, -digits)
  const fraction = text.slice(-digits, end)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
