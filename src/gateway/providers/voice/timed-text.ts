import { arrayOf, isObject, textOf, type WireObject } from '#outgoing/wire.ts'
import type { TimedText } from './voice-format.ts'

/** A number of seconds; null when it is none. */
export const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null

/** Items of a list that have a text and times; what has none is left out. */
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

/** A field of text or number as a speaker's name; null when it is neither. */
export const speakerOf = (value: unknown): string | null => {
  if (typeof value === 'number') return `speaker_${value}`
  const name = textOf(value)
  return name === '' ? null : name
}
