import { normalisedName } from '../names.ts'

/** Words that change nothing of what a memory says. */
const fillers: ReadonlySet<string> = new Set(
  'a an the is are am was were be been i my me user users s to of in on at and that this it now just really very'.split(
    ' ',
  ),
)

const wordsOf = (text: string): readonly string[] =>
  normalisedName(text)
    .split(' ')
    .filter((word) => word !== '' && !fillers.has(word))

/** What two memories with the same words have in common, whatever their order, case and punctuation. */
export const duplicateKey = (content: string): string => {
  const words = wordsOf(content)
  return words.length === 0 ? normalisedName(content) : words.toSorted().join(' ')
}

/** Pairs of neighbouring words, and each word. */
export const shinglesOf = (content: string): ReadonlySet<string> => {
  const words = wordsOf(content)
  return new Set([...words, ...words.slice(1).map((word, at) => `${words[at]} ${word}`)])
}

/** The share of shingles that two contents have in common, from 0 to 1. */
export const similarity = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  if (one.size === 0 || other.size === 0) return 0
  let common = 0
  for (const shingle of one) if (other.has(shingle)) common++
  return common / (one.size + other.size - common)
}

/** From here on two contents say the same, unless a number or a negation differs. */
const duplicateFrom = 0.8

/** Whether one content only repeats another. "7 cats" and "8 cats" do not, and neither do "likes" and "does not like". */
export const isNearDuplicate = (one: string, other: string): boolean => {
  if (duplicateKey(one) === duplicateKey(other)) return true
  return decisive(one) === decisive(other) && similarity(shinglesOf(one), shinglesOf(other)) >= duplicateFrom
}

/** Numbers, names and negations. */
const decisive = (text: string): string =>
  (text.match(/\d[\d.,:/-]*|\b(?:not|no|never|longer|without|[a-z]+n['’]t)\b|(?<!^)(?<![.!?] )\b\p{Lu}\p{L}+/gu) ?? [])
    .join(' ')
    .toLowerCase()
