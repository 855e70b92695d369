import { Decimal } from 'decimal.js'

/** Sums and products stay exact: no result of ours has so many digits. */
const Exact = Decimal.clone({ precision: 1000 })

/** An amount of money, or a factor of one; exact. */
export type Amount = Decimal

/** From decimal text. */
export const amountOf = (text: string): Amount => new Exact(text)

export const zero: Amount = new Exact(0)

/** As decimal text without an exponent. */
export const textOf = (amount: Amount): string => amount.toFixed()

/** `amount` for each million of `count`: times a power of ten, so nothing is rounded. */
export const perMillion = (amount: Amount, count: number): Amount => amount.times(count).times('0.000001')

/** `percent` of an amount. */
export const percentOf = (amount: Amount, percent: Amount): Amount => amount.times(percent).times('0.01')
