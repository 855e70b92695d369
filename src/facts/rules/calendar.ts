const dayMs = 86_400_000

const months = 'january february march april may june july august september october november december'.split(' ')
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')

/** A part of the calendar that a text names, or a length of time. */
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

/** First month of a season, on the northern half of the earth. */
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

/** The unit that a word names. */
export const unitOf = (low: string): Unit | null => (Object.hasOwn(units, low) ? (units[low] ?? null) : null)

/** The number that a word or digits say, to 999. */
export const numberOf = (low: string): number | null => {
  if (/^\d{1,3}$/.test(low)) return Number(low)
  return Object.hasOwn(numbers, low) ? (numbers[low] ?? null) : null
}

/** January is 0; also by its first three or four letters. */
export const monthOf = (low: string): number | null => monthNames.get(low) ?? null

const monthNames = new Map(
  months
    .flatMap((name, month) => [name, name.slice(0, 3), name.slice(0, 4)].map((form) => [form, month] as const))
    .toReversed(),
)

/** Sunday is 0. */
export const weekdayOf = (low: string): number | null => {
  const found = weekdays.indexOf(low)
  return found < 0 ? null : found
}

/** First month of the season that a word names. */
export const seasonOf = (low: string): number | null => (Object.hasOwn(seasons, low) ? (seasons[low] ?? null) : null)

/** Words of which one is a number. */
export const numberWords: readonly string[] = Object.keys(numbers)

/** A year from 1900 to 2099. */
export const yearOf = (low: string): number | null => (/^(?:19|20)\d\d$/.test(low) ? Number(low) : null)

/** Day of a month: `3`, `3rd`. */
export const dayOf = (low: string): number | null => {
  const day = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(low)?.[1]
  return day === undefined || Number(day) < 1 || Number(day) > 31 ? null : Number(day)
}

/** `2024-03-05`, `2024-03`. */
export const isoDateOf = (low: string): number | null => {
  const [, year, month, day] = /^((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?:t[\d:.z+-]{1,30})?$/.exec(low) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) return null
  return Date.UTC(Number(year), Number(month) - 1, day === undefined ? 1 : Number(day))
}

/** Midnight (UTC) of the day. */
export const dayStart = (at: number): number => Math.floor(at / dayMs) * dayMs

/** So many units before a time (later when negative), on the same day of the month. */
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

/** Beginning of the month or year of a time; of another unit, of its day. */
export const startOf = (at: number, unit: Unit): number => {
  const date = new Date(at)
  if (unit === 'year') return Date.UTC(date.getUTCFullYear(), 0)
  return unit === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) : dayStart(at)
}

/** The latest beginning of the month that is not after a time. */
export const latestMonth = (month: number, at: number): number => {
  const year = new Date(at).getUTCFullYear()
  const found = Date.UTC(year, month)
  return found <= at ? found : Date.UTC(year - 1, month)
}

/** The latest such day of the week before today. */
export const latestWeekday = (weekday: number, at: number): number => {
  const back = (new Date(at).getUTCDay() - weekday + 7) % 7 || 7
  return dayStart(at) - back * dayMs
}
