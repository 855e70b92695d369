import { Decimal } from 'decimal.js'

/** Decimals with enough precision to keep every sum and product exact. */
const Exact = Decimal.clone({ precision: 1000 })

/** An exact amount of money, or a factor of one. */
export type Amount = Decimal

/** Parses decimal text. */
export const amountOf = (text: string): Amount => new Exact(text)

export const zero: Amount = new Exact(0)

/** Formats as decimal text without an exponent. */
export const textOf = (amount: Amount): string => amount.toFixed()

/** Returns `amount` per million times `count`. It multiplies by a power of ten, so nothing is rounded. */
export const perMillion = (amount: Amount, count: number): Amount => amount.times(count).times('0.000001')

/** Returns `percent` per cent of an amount. */
export const percentOf = (amount: Amount, percent: Amount): Amount => amount.times(percent).times('0.01')

/** Returns the cost of two calls as exact text; null where one of them is unknown. */
export const addCosts = (a: string | null, b: string | null): string | null =>
  a === null || b === null ? null : textOf(amountOf(a).plus(amountOf(b)))
