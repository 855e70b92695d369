import { normalisedName } from '../names.ts'

/** Words that do not affect the meaning of a memory. */
const fillers: ReadonlySet<string> = new Set(
  'a an the is are am was were be been i my me user users s to of in on at and that this it now just really very'.split(
    ' ',
  ),
)

const wordsOf = (text: string): readonly string[] =>
  normalisedName(text)
    .split(' ')
    .filter((word) => word !== '' && !fillers.has(word))

/** Returns a key that is equal for memories with the same words, regardless of order, case and punctuation. */
export const duplicateKey = (content: string): string => {
  const words = wordsOf(content)
  return words.length === 0 ? normalisedName(content) : words.toSorted().join(' ')
}

/** Returns the words and pairs of adjacent words of a text. */
export const shinglesOf = (content: string): ReadonlySet<string> => {
  const words = wordsOf(content)
  return new Set([...words, ...words.slice(1).map((word, at) => `${words[at]} ${word}`)])
}

/** Returns the Jaccard similarity of two sets of shingles, 0 to 1. */
export const similarity = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  if (one.size === 0 || other.size === 0) return 0
  let common = 0
  for (const shingle of one) if (other.has(shingle)) common++
  return common / (one.size + other.size - common)
}

/** Similarity from which two texts are duplicates, unless a number, name or negation differs. */
const duplicateFrom = 0.8

/** Whether one text only repeats another. "7 cats" and "8 cats" differ, and so do "likes" and "does not like". */
export const isNearDuplicate = (one: string, other: string): boolean => {
  if (duplicateKey(one) === duplicateKey(other)) return true
  return decisive(one) === decisive(other) && similarity(shinglesOf(one), shinglesOf(other)) >= duplicateFrom
}

/** Returns the numbers, names and negations of a text. */
const decisive = (text: string): string =>
  (text.match(/\d[\d.,:/-]*|\b(?:not|no|never|longer|without|[a-z]+n['’]t)\b|(?<!^)(?<![.!?] )\b\p{Lu}\p{L}+/gu) ?? [])
    .join(' ')
    .toLowerCase()
