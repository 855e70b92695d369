import { monthNames } from './months.ts'

/** A time mentioned in a question. */
export interface Moment {
  /** Returns how well a time in ms matches, 0 to 1. */
  readonly fits: (at: number) => number
}

const dayMs = 86_400_000
const maxCharacters = 2_000

/**
 * Returns the times mentioned in a question: dates, months with or without a year, years, and relative ones such as
 * "two weeks ago".
 */
export function momentsOf(question: string, now: number): readonly Moment[] {
  const text = question.slice(0, maxCharacters).toLowerCase()
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...isoMoments(text), ...namedMoments(words), ...relativeMoments(words, now)]
}

/** Returns how well a time matches the best of the moments; 0 without one. */
export const fitOf = (moments: readonly Moment[], at: number): number =>
  moments.reduce((best, moment) => Math.max(best, moment.fits(at)), 0)

/**
 * A time within the span matches fully. A time soon after it matches better than one before, since later messages often
 * still refer to it.
 */
const span = (from: number, to: number): Moment => ({
  fits: (at) => {
    if (at >= from && at < to) return 1
    const away = at < from ? (from - at) * 2 : at - to
    return Math.max(0, 0.7 - (0.7 * away) / Math.max(3 * dayMs, (to - from) / 2))
  },
})

const ofMonth = (month: number, day: number | null): Moment => ({
  fits: (at) => {
    const date = new Date(at)
    if (date.getUTCMonth() !== month) return 0
    return day === null || date.getUTCDate() === day ? 1 : 0.5
  },
})

const dated = (year: number, month: number, day: number | null): Moment =>
  day === null
    ? span(Date.UTC(year, month), Date.UTC(year, month + 1))
    : span(Date.UTC(year, month, day), Date.UTC(year, month, day + 1))

function isoMoments(text: string): readonly Moment[] {
  return [...text.matchAll(/\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/g)].map(([, year, month, day]) =>
    dated(Number(year), Number(month) - 1, day === undefined ? null : Number(day)),
  )
}

const yearOf = (word: string | undefined): number | null =>
  word !== undefined && /^(?:19|20)\d\d$/.test(word) ? Number(word) : null

function dayOf(word: string | undefined): number | null {
  const found = word === undefined ? null : /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word)
  const day = Number(found?.[1] ?? 0)
  return day >= 1 && day <= 31 ? day : null
}

function namedMoments(words: readonly string[]): readonly Moment[] {
  const moments: Moment[] = []
  const taken = new Set<number>()
  for (const [at, word] of words.entries()) {
    const month = monthNames.get(word)
    if (month === undefined || isMayTheVerb(words, at)) continue
    const day = dayOf(words[at + 1]) ?? dayOf(words[at - 1]) ?? null
    const yearAt = [at + 1, at + 2].find((place) => yearOf(words[place]) !== null)
    const year = yearAt === undefined ? null : yearOf(words[yearAt])
    if (yearAt !== undefined) taken.add(yearAt)
    moments.push(year === null ? ofMonth(month, day) : dated(year, month, day))
  }
  for (const [at, word] of words.entries()) {
    const year = taken.has(at) ? null : yearOf(word)
    if (year !== null) moments.push(span(Date.UTC(year, 0), Date.UTC(year + 1, 0)))
  }
  return moments
}

/** Whether "may" is a verb: it is a month only next to a number or after a preposition. */
const isMayTheVerb = (words: readonly string[], at: number): boolean =>
  words[at] === 'may' &&
  dayOf(words[at + 1]) === null &&
  yearOf(words[at + 1]) === null &&
  !['in', 'of', 'during', 'since', 'last', 'until', 'early', 'late', 'by'].includes(words[at - 1] ?? '') &&
  dayOf(words[at - 1]) === null

const units: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 }
const counts = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

const relative = ['today', 'yesterday', 'last', 'ago']

function relativeMoments(words: readonly string[], now: number): readonly Moment[] {
  const moments: Moment[] = []
  if (!relative.some((word) => words.includes(word))) return moments
  const today = Math.floor(now / dayMs) * dayMs
  const back = (days: number, wide: number): Moment =>
    span(today - (days + wide / 2) * dayMs, today - (days - wide / 2 - 1) * dayMs)
  for (const [at, word] of words.entries()) {
    const unit = units[(words[at + 1] ?? '').replace(/s$/, '')]
    if (word === 'today') moments.push(back(0, 0))
    if (word === 'yesterday') moments.push(back(1, 0))
    if (word === 'last' && unit !== undefined) moments.push(back(unit, unit))
    const count = /^\d{1,3}$/.test(word) ? Number(word) : counts.indexOf(word === 'a' ? 'one' : word)
    if (count > 0 && unit !== undefined && words[at + 2] === 'ago') moments.push(back(count * unit, unit - 1))
  }
  return moments
}
