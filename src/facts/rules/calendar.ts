const dayMs = 86_400_000

const months = 'january february march april may june july august september october november december'.split(' ')
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')

/** A unit of the calendar or of a duration. */
export type Unit = 'day' | 'week' | 'month' | 'year'

const units: Readonly<Record<string, Unit>> = {
  day: 'day',
  days: 'day',
  week: 'week',
  weeks: 'week',
  month: 'month',
  months: 'month',
  year: 'year',
  years: 'year',
  yrs: 'year',
}

/** First month of each season, in the northern hemisphere. */
const seasons: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 }

const numbers: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  couple: 2,
  three: 3,
  few: 3,
  several: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
}

/** Returns the unit that a word names; null for other words. */
export const unitOf = (low: string): Unit | null => (Object.hasOwn(units, low) ? (units[low] ?? null) : null)

/** Returns the number that a word or up to three digits denote; null for other words. */
export const numberOf = (low: string): number | null => {
  if (/^\d{1,3}$/.test(low)) return Number(low)
  return Object.hasOwn(numbers, low) ? (numbers[low] ?? null) : null
}

/** Returns the month, from 0 for January, by its name or its first three or four letters. */
export const monthOf = (low: string): number | null => monthNames.get(low) ?? null

const monthNames = new Map(
  months
    .flatMap((name, month) => [name, name.slice(0, 3), name.slice(0, 4)].map((form) => [form, month] as const))
    .toReversed(),
)

/** Returns the day of the week, from 0 for Sunday. */
export const weekdayOf = (low: string): number | null => {
  const found = weekdays.indexOf(low)
  return found < 0 ? null : found
}

/** Returns the first month of the season that a word names. */
export const seasonOf = (low: string): number | null => (Object.hasOwn(seasons, low) ? (seasons[low] ?? null) : null)

/** All number words. */
export const numberWords: readonly string[] = Object.keys(numbers)

/** Returns a year from 1900 to 2099; null for anything else. */
export const yearOf = (low: string): number | null => (/^(?:19|20)\d\d$/.test(low) ? Number(low) : null)

/** Returns the day of a month: `3`, `3rd`. */
export const dayOf = (low: string): number | null => {
  const day = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(low)?.[1]
  return day === undefined || Number(day) < 1 || Number(day) > 31 ? null : Number(day)
}

/** Parses `2024-03-05` and `2024-03`; returns ms since the epoch. */
export const isoDateOf = (low: string): number | null => {
  const [, year, month, day] = /^((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?:t[\d:.z+-]{1,30})?$/.exec(low) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) return null
  return Date.UTC(Number(year), Number(month) - 1, day === undefined ? 1 : Number(day))
}

/** Returns midnight (UTC) of the day. */
export const dayStart = (at: number): number => Math.floor(at / dayMs) * dayMs

/** Returns the time `count` units earlier (later when negative), on the same day of the month where possible. */
export const before = (at: number, count: number, unit: Unit): number => {
  if (unit === 'day') return at - count * dayMs
  if (unit === 'week') return at - count * 7 * dayMs
  const date = new Date(at)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - count * (unit === 'year' ? 12 : 1))
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, last))
}

/** Returns the beginning of the month or year of a time; for other units, of its day. */
export const startOf = (at: number, unit: Unit): number => {
  const date = new Date(at)
  if (unit === 'year') return Date.UTC(date.getUTCFullYear(), 0)
  return unit === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) : dayStart(at)
}

/** Returns the latest beginning of the given month that is not after a time. */
export const latestMonth = (month: number, at: number): number => {
  const year = new Date(at).getUTCFullYear()
  const found = Date.UTC(year, month)
  return found <= at ? found : Date.UTC(year - 1, month)
}

/** Returns the latest such weekday before today. */
export const latestWeekday = (weekday: number, at: number): number => {
  const back = (new Date(at).getUTCDay() - weekday + 7) % 7 || 7
  return dayStart(at) - back * dayMs
}
