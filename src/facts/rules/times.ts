import {
  before,
  dayOf,
  dayStart,
  isoDateOf,
  latestMonth,
  latestWeekday,
  monthOf,
  numberOf,
  numberWords,
  seasonOf,
  startOf,
  unitOf,
  weekdayOf,
  yearOf,
} from './calendar.ts'
import type { Token } from './tokens.ts'

/** A clause without its time expressions, and the times they denote. */
export interface TimedClause {
  readonly tokens: readonly Token[]
  readonly from: number | null
  readonly to: number | null
}

/** A time, and the number of words that express it. */
interface Found {
  readonly at: number
  readonly length: number
}

type Reader = (words: readonly string[], observedAt: number) => Found | null

const openers: ReadonlySet<string> = new Set(
  'in on since from around during by at of starting beginning effective circa'.split(' '),
)
const closers: ReadonlySet<string> = new Set(['until', 'till', 'to', 'through'])

/** Words that can begin a time expression, in addition to digits and months. */
const beginnings: ReadonlySet<string> = new Set([
  ...'yesterday today tonight tomorrow this the last past previous next coming earlier later late early'.split(' '),
  ...'about around almost some over for back ever way as'.split(' '),
  ...[...openers, ...closers, ...numberWords],
])

const mayBegin = (low: string): boolean => beginnings.has(low) || /^\d/.test(low) || monthOf(low) !== null

/** Extracts time expressions from a clause. Relative ones are resolved against the time at which it was said. */
export const takeTimes = (tokens: readonly Token[], observedAt: number): TimedClause => {
  const words = tokens.map(({ low }) => low)
  const kept: Token[] = []
  let from: number | null = null
  let to: number | null = null
  for (let at = 0; at < tokens.length; ) {
    const found = mayBegin(words[at] ?? '') ? spanAt(words.slice(at, at + 12), observedAt) : null
    if (found === null) {
      const token = tokens[at++]
      if (token !== undefined) kept.push(token)
      continue
    }
    at += found.length
    if (found.closes && (words[at - found.length] !== 'to' || from !== null)) to = found.at
    else from ??= found.at
  }
  return { tokens: withoutLooseCommas(kept), from, to }
}

const withoutLooseCommas = (tokens: readonly Token[]): readonly Token[] => {
  const first = tokens.findIndex(({ low }) => low !== ',')
  const last = tokens.findLastIndex(({ low }) => low !== ',')
  return first < 0 ? [] : tokens.slice(first, last + 1)
}

interface Span extends Found {
  readonly closes: boolean
}

const spanAt = (words: readonly string[], observedAt: number): Span | null => {
  const bare = relative(words, observedAt) ?? fullDate(words, observedAt)
  if (bare !== null) return { ...bare, closes: false }
  const skipped = leading(words)
  if (skipped === 0) return null
  const rest = words.slice(skipped)
  const found = relative(rest, observedAt) ?? fullDate(rest, observedAt) ?? looseDate(rest, observedAt)
  if (found === null) return null
  return { at: found.at, length: found.length + skipped, closes: closers.has(words[0] ?? '') }
}

/** Returns the number of words that introduce a date: "since", "back in", "as of the beginning of", "ever since". */
const leading = (words: readonly string[]): number => {
  let count = 0
  if (['back', 'ever', 'way'].includes(words[0] ?? '')) count = 1
  if (words[count] === 'as' && ['of', 'from'].includes(words[count + 1] ?? '')) count += 2
  else if (openers.has(words[count] ?? '') || closers.has(words[count] ?? '')) count += 1
  else return 0
  if (openers.has(words[count] ?? '')) count += 1
  if (words[count] === 'the' && ['start', 'beginning', 'end', 'middle'].includes(words[count + 1] ?? ''))
    count += words[count + 2] === 'of' ? 3 : 2
  if (['early', 'late', 'mid', 'about', 'around'].includes(words[count] ?? '')) count += 1
  if (
    words[count] === 'the' &&
    ['summer', 'winter', 'spring', 'autumn', 'fall', 'year'].includes(words[count + 1] ?? '')
  )
    count += 1
  return count
}

const relative: Reader = (words, observedAt) =>
  dayWord(words, observedAt) ?? ago(words, observedAt) ?? lasting(words, observedAt) ?? besides(words, observedAt)

const dayWord: Reader = (words, observedAt) => {
  const [first = '', second = ''] = words
  const today = dayStart(observedAt)
  if (first === 'yesterday') return { at: before(today, 1, 'day'), length: ofDay(second) ? 2 : 1 }
  if (first === 'today' || first === 'tonight') return { at: today, length: 1 }
  if (first === 'tomorrow') return { at: before(today, -1, 'day'), length: 1 }
  if (first === 'this' && ofDay(second)) return { at: today, length: 2 }
  if (words.slice(0, 4).join(' ') === 'the day before yesterday') return { at: before(today, 2, 'day'), length: 4 }
  return first === 'last' && second === 'night' ? { at: before(today, 1, 'day'), length: 2 } : null
}

const ofDay = (word: string): boolean => ['morning', 'afternoon', 'evening', 'night'].includes(word)

/** Reads "two weeks ago", "about a couple of months ago", "a year earlier". */
const ago: Reader = (words, observedAt) => {
  const start = ['about', 'around', 'almost', 'some', 'over'].includes(words[0] ?? '') ? 1 : 0
  const length = amount(words.slice(start))
  if (length === null || !['ago', 'back', 'earlier'].includes(words[start + length.length] ?? '')) return null
  return { at: before(dayStart(observedAt), length.count, length.unit), length: start + length.length + 1 }
}

/** Reads durations up to now: "for three years", "for the past 6 months". */
const lasting: Reader = (words, observedAt) => {
  if (words[0] !== 'for') return null
  let start = 1
  while (
    start < 4 &&
    ['the', 'about', 'over', 'past', 'last', 'almost', 'more', 'than', 'around'].includes(words[start] ?? '')
  )
    start++
  const length = amount(words.slice(start))
  if (length === null || (length.unit === 'day' && length.count < 2)) return null
  return { at: before(dayStart(observedAt), length.count, length.unit), length: start + length.length }
}

const amount = (words: readonly string[]) => {
  let at = words[0] === 'a' && ['few', 'couple'].includes(words[1] ?? '') ? 1 : 0
  const count = numberOf(words[at++] ?? '')
  if (words[at] === 'of' || words[at] === 'full') at++
  const unit = unitOf(words[at] ?? '')
  return count === null || unit === null ? null : { count, unit, length: at + 1 }
}

const stepsOf: ReadonlyMap<string, number> = new Map([
  ...(['last', 'past', 'previous'] as const).map((word) => [word, 1] as const),
  ...(['next', 'coming'] as const).map((word) => [word, -1] as const),
  ['this', 0],
])

/** Reads "last week", "this month", "next Monday", "earlier this year". */
const besides: Reader = (words, observedAt) => {
  const start = ['earlier', 'later', 'late', 'early'].includes(words[0] ?? '') ? 1 : words[0] === 'the' ? 1 : 0
  const [which = '', what = ''] = words.slice(start)
  const steps = stepsOf.get(which)
  if (steps === undefined) return null
  const at = besideAt(what, steps, observedAt)
  return at === null ? null : { at, length: start + 2 }
}

const besideAt = (what: string, steps: number, observedAt: number): number | null => {
  const unit = unitOf(what === 'weekend' ? 'week' : what)
  if (unit !== null) return startOf(before(observedAt, steps, unit), unit)
  const weekday = weekdayOf(what)
  if (weekday !== null) {
    const latest = latestWeekday(weekday, observedAt)
    return steps > 0 ? latest : before(latest, -1, 'week')
  }
  const month = monthOf(what) ?? seasonOf(what)
  if (month === null) return null
  const latest = latestMonth(month, observedAt)
  return steps < 0 ? before(latest, -1, 'year') : latest
}

/** Reads an unambiguous date: ISO, or a month with its day or year. */
const fullDate: Reader = (words, observedAt) => {
  const [first = '', second = '', third = ''] = words
  const iso = isoDateOf(first)
  if (iso !== null) return { at: iso, length: 1 }
  const [month, day] = [monthOf(first), dayOf(second)]
  if (month !== null && yearOf(second) !== null) return { at: Date.UTC(yearOf(second) ?? 0, month), length: 2 }
  if (month !== null && day !== null) return dayOfMonth({ month, day, rest: words.slice(2) }, 2, observedAt)
  const dayFirst = dayOf(first)
  const skip = second === 'of' ? 1 : 0
  const monthSecond = monthOf(skip === 1 ? third : second)
  if (dayFirst === null || monthSecond === null) return null
  return dayOfMonth({ month: monthSecond, day: dayFirst, rest: words.slice(2 + skip) }, 2 + skip, observedAt)
}

interface DayOfMonth {
  readonly month: number
  readonly day: number
  readonly rest: readonly string[]
}

const dayOfMonth = ({ month, day, rest }: DayOfMonth, length: number, observedAt: number): Found => {
  const comma = rest[0] === ',' ? 1 : 0
  const year = yearOf(rest[comma] ?? '')
  if (year !== null) return { at: Date.UTC(year, month, day), length: length + comma + 1 }
  return { at: latestMonth(month, observedAt) + (day - 1) * 86_400_000, length }
}

/** Reads a date that is only recognised after an introducing word: "in May", "since 2019", "on Friday". */
const looseDate: Reader = (words, observedAt) => {
  const [first = '', second = ''] = words
  const year = yearOf(first)
  if (year !== null) return { at: Date.UTC(year, 0), length: 1 }
  const weekday = weekdayOf(first)
  if (weekday !== null) return { at: latestWeekday(weekday, observedAt), length: 1 }
  const month = monthOf(first) ?? seasonOf(first)
  if (month === null) return null
  const yearBehind = yearOf(second === 'of' ? (words[2] ?? '') : second)
  if (yearBehind !== null) return { at: Date.UTC(yearBehind, month), length: second === 'of' ? 3 : 2 }
  return { at: latestMonth(month, observedAt), length: 1 }
}
