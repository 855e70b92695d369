import { normalisedName, partsOf } from '#facts/index.ts'
import type { FactData, MemoryData, SupersededPart } from '../kinds.ts'

type Divided = Pick<MemoryData, 'content' | 'superseded'>

/** Returns the parts of a memory's content that newer memories have superseded, in order. */
export const supersededParts = ({ superseded = [] }: Pick<MemoryData, 'superseded'>): readonly SupersededPart[] =>
  superseded

/** Returns the part of a content that still holds: the whole content while nothing of it is superseded. */
export const holdingContent = (data: Divided): string => {
  const gone = new Set(supersededParts(data).map(({ text }) => text))
  if (gone.size === 0) return data.content
  return holdingParts(data)
    .map((text) => text.replace(/[\s,;]{1,8}$/u, ''))
    .join(' · ')
}

/** Returns the texts of the parts that still hold. */
export const holdingParts = (data: Divided): readonly string[] => {
  const gone = new Set(supersededParts(data).map(({ text }) => text))
  return partsOf(data.content)
    .map(({ text }) => text)
    .filter((text) => !gone.has(text))
}

/** Returns the parts of a content all of whose facts have ended, with the memory that ended the last of them. */
export const endedParts = (data: Divided, facts: readonly FactData[], by: string): readonly SupersededPart[] => {
  const parts = partsOf(data.content)
  if (parts.length < 2) return supersededParts(data)
  const known = new Map(supersededParts(data).map((part) => [part.text, part]))
  const current = facts.flatMap(({ ended, object, valid_to_ms: end }) =>
    ended ? [] : [{ object: wordsIn(object), end }],
  )
  for (const { text } of parts) {
    const words = wordsIn(text)
    const ends = current.flatMap(({ object, end }) => (states(words, object) ? [end] : []))
    if (known.has(text) || ends.length === 0 || ends.includes(null)) continue
    known.set(text, { text, valid_to_ms: Math.max(...ends.map((end) => end ?? 0)), by })
  }
  return parts.flatMap(({ text }) => known.get(text) ?? [])
}

/** Returns the words of a text or a name, in the form in which `states` compares them. */
export const wordsIn = (text: string): string => ` ${normalisedName(text)} `

/** Whether a part of a text names the object of a fact, by the words of both. */
export const states = (words: string, object: string): boolean => object !== '  ' && words.includes(object)

/** Returns when the last part of a memory ended, in ms since the epoch; null while one of them holds. */
export const endOfParts = (data: Divided): number | null =>
  supersededParts(data).length > 0 && holdingParts(data).every(isNothing)
    ? Math.max(...supersededParts(data).map(({ valid_to_ms }) => valid_to_ms))
    : null

/** Whether a part is an interjection ("Good news!") rather than a statement. */
const isNothing = (text: string): boolean => text.length < 16 && text.split(' ').length < 3

/** Returns a memory as it was at a time: parts that were superseded later still hold. */
export const asOfThen = (data: MemoryData, at: number): MemoryData => ({
  ...data,
  superseded: supersededParts(data).filter(({ valid_to_ms }) => valid_to_ms <= at),
})
