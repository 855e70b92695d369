import { type Amount, amountOf, textOf, zero } from '../prices/money.ts'
import type { CounterData, Hold } from './kinds.ts'

/** Budgets in USD as decimal text; absent or null: no limit. */
export interface Budgets {
  readonly day?: string | null
  readonly month?: string | null
  readonly total?: string | null
}

/** The period of a budget. */
export type BudgetSpan = 'day' | 'month' | 'total'

/** Returns a counter with nothing spent and nothing held. */
export const freshCounter = (now: number): CounterData => ({
  ...datesOf(now),
  day_usd: '0',
  month_usd: '0',
  total_usd: '0',
  held: {},
})

/**
 * Returns a counter at the time `now`: a new day or month starts at zero, and expired holds of dead processes are
 * removed.
 */
export const currentCounter = (data: CounterData, now: number): CounterData => {
  const { day, month } = datesOf(now)
  return {
    // the clock of this node may be behind: an earlier date does not reset the day
    day: day > data.day ? day : data.day,
    day_usd: day > data.day ? '0' : data.day_usd,
    month: month > data.month ? month : data.month,
    month_usd: month > data.month ? '0' : data.month_usd,
    total_usd: data.total_usd,
    held: Object.fromEntries(Object.entries(data.held).filter(([, { until }]) => until > now)),
  }
}

/** Adds `usd` to what was spent. */
export const spentMore = (data: CounterData, usd: Amount): CounterData => ({
  ...data,
  day_usd: plus(data.day_usd, usd),
  month_usd: plus(data.month_usd, usd),
  total_usd: plus(data.total_usd, usd),
})

/** Sets the hold of a process, even when it is zero. */
export const holding = (data: CounterData, process: string, hold: Hold): CounterData => ({
  ...data,
  held: { ...data.held, [process]: hold },
})

/** Sum of the holds of all other processes. */
export const heldByOthers = (data: CounterData, process: string): Amount =>
  Object.entries(data.held).reduce((sum, [other, { usd }]) => (other === process ? sum : sum.plus(amountOf(usd))), zero)

/** The remainder of one budget. */
export interface Headroom {
  readonly span: BudgetSpan
  readonly usd: Amount
}

/** Returns the budget with the smallest remainder after what is spent and held; null when there is no budget. */
export const minHeadroom = (data: CounterData, held: Amount, budgets: Budgets): Headroom | null => {
  const spent = { day: data.day_usd, month: data.month_usd, total: data.total_usd }
  const headrooms = (['day', 'month', 'total'] as const).flatMap((span) => {
    const budget = budgets[span] ?? null
    return budget === null ? [] : [{ span, usd: amountOf(budget).minus(amountOf(spent[span])).minus(held) }]
  })
  return headrooms.reduce<Headroom | null>(
    (min, headroom) => (min?.usd.lessThanOrEqualTo(headroom.usd) ? min : headroom),
    null,
  )
}

const plus = (text: string, usd: Amount): string => textOf(amountOf(text).plus(usd))

const datesOf = (now: number): Pick<CounterData, 'day' | 'month'> => {
  const date = new Date(now).toISOString()
  return { day: date.slice(0, 10), month: date.slice(0, 7) }
}
