import type { MemoryPlace } from './memory-place.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: every character that NFKC leaves as it is
const ascii = /^[\x00-\x7f]*$/
const plainWord = /[a-z0-9]+/g
const separators = /[^\p{L}\p{N}]+/gu
const filler: ReadonlySet<string> = new Set(
  'a an the is am are was were be been that this it so very really just also well oh please'.split(' '),
)

/** Returns the key that near-duplicates share: their place and ordered words, without case, punctuation and fillers. */
export const contentKey = ({ scope, session, namespace }: MemoryPlace, content: string): string => {
  const words = ascii.test(content)
    ? (content.toLowerCase().match(plainWord) ?? [])
    : content.normalize('NFKC').toLowerCase().split(separators)
  const meaningful = words.filter((word) => word !== '' && !filler.has(word))
  return JSON.stringify([scope, session, namespace, meaningful.length > 0 ? meaningful.join(' ') : content])
}
