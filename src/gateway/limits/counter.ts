import { type Amount, amountOf, textOf, zero } from '../prices/money.ts'
import type { CounterData, Hold } from './kinds.ts'

/** What may be spent; absent or null: without a limit. */
export interface Budgets {
  readonly day?: string | null
  readonly month?: string | null
  readonly total?: string | null
}

/** A span of time that a budget is for. */
export type BudgetSpan = 'day' | 'month' | 'total'

/** Nothing spent, nothing held. */
export const freshCounter = (now: number): CounterData => ({
  ...datesOf(now),
  day_usd: '0',
  month_usd: '0',
  total_usd: '0',
  held: {},
})

/** The counter as it is now: a new day and a new month begin with nothing, and what dead processes held is free again. */
export const currentCounter = (data: CounterData, now: number): CounterData => {
  const { day, month } = datesOf(now)
  return {
    // a clock that is behind others begins no day anew
    day: day > data.day ? day : data.day,
    day_usd: day > data.day ? '0' : data.day_usd,
    month: month > data.month ? month : data.month,
    month_usd: month > data.month ? '0' : data.month_usd,
    total_usd: data.total_usd,
    held: Object.fromEntries(Object.entries(data.held).filter(([, { until }]) => until > now)),
  }
}

/** `usd` more were spent. */
export const spentMore = (data: CounterData, usd: Amount): CounterData => ({
  ...data,
  day_usd: plus(data.day_usd, usd),
  month_usd: plus(data.month_usd, usd),
  total_usd: plus(data.total_usd, usd),
})

/** A process holds this much, if only nothing. */
export const holding = (data: CounterData, process: string, hold: Hold): CounterData => ({
  ...data,
  held: { ...data.held, [process]: hold },
})

/** What all processes hold, but for one. */
export const heldByOthers = (data: CounterData, process: string): Amount =>
  Object.entries(data.held).reduce((sum, [other, { usd }]) => (other === process ? sum : sum.plus(amountOf(usd))), zero)

/** What is left of a budget. */
export interface Room {
  readonly span: BudgetSpan
  readonly usd: Amount
}

/** The budget that has least left beside what is spent and held; null without one. */
export const leastRoom = (data: CounterData, held: Amount, budgets: Budgets): Room | null => {
  const spent = { day: data.day_usd, month: data.month_usd, total: data.total_usd }
  const rooms = (['day', 'month', 'total'] as const).flatMap((span) => {
    const budget = budgets[span] ?? null
    return budget === null ? [] : [{ span, usd: amountOf(budget).minus(amountOf(spent[span])).minus(held) }]
  })
  return rooms.reduce<Room | null>((least, room) => (least?.usd.lessThanOrEqualTo(room.usd) ? least : room), null)
}

const plus = (text: string, usd: Amount): string => textOf(amountOf(text).plus(usd))

const datesOf = (now: number): Pick<CounterData, 'day' | 'month'> => {
  const date = new Date(now).toISOString()
  return { day: date.slice(0, 10), month: date.slice(0, 7) }
}
