import { arrayOf, isObject, textOf, type WireObject } from '#outgoing/wire.ts'
import type { TimedText } from './voice-format.ts'

/** More seconds than any audio has: eleven days. */
const maxSeconds = 1_000_000

/** Returns a valid number of seconds; null for anything else. */
export const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= maxSeconds ? value : null

/** Returns the items of a list that have both text and times; others are dropped. */
export const timedTexts = (list: unknown, read: (item: WireObject) => Partial<TimedText>): readonly TimedText[] =>
  arrayOf(list).flatMap((item) => {
    if (!isObject(item)) return []
    const { text = '', speaker = null, scores } = read(item)
    const start = secondsOf(item.start)
    const end = secondsOf(item.end)
    return start === null || end === null || text.trim() === ''
      ? []
      : [{ start, end: Math.max(start, end), text: text.trim(), speaker, ...(scores !== undefined && { scores }) }]
  })

/** Returns a speaker's name from a string or number field; null for other types and empty strings. */
export const speakerOf = (value: unknown): string | null => {
  if (typeof value === 'number') return `speaker_${value}`
  const name = textOf(value)
  return name === '' ? null : name
}
