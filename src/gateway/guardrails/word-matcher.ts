/** A place in a text, from `start` to before `end`. */
export type Place = {
  readonly start: number
  readonly end: number
}

/** Words that begin with the same two characters; lengths in descending order. */
interface Bucket {
  readonly words: Set<string>
  readonly lengths: number[]
}

/** Kinds of characters: no letter; a letter of a script that separates words; one of a script that does not. */
const [unknown, other, spaced, joined] = [0, 1, 2, 3] as const
const kinds = new Uint8Array(0x1_0000)
const letter = /[\p{L}\p{N}_]/u
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Cs}]/u

const kindAt = (text: string, at: number): number => {
  if (at < 0 || at >= text.length) return other
  const unit = text.charCodeAt(at)
  const kind = kinds[unit] ?? other
  if (kind !== unknown) return kind
  const char = String.fromCharCode(unit)
  const found = unspaced.test(char) ? joined : letter.test(char) ? spaced : other
  kinds[unit] = found
  return found
}

/** Finds the words of a list in folded texts. A word is not found within a longer one, in scripts that separate words. */
export class WordMatcher {
  readonly #buckets = new Map<number, Bucket>()
  /** Length of the longest word. */
  readonly longest: number
  /** Most comparisons at one place of a text. */
  readonly cost: number

  /** @param words folded; empty ones are never found. */
  constructor(words: ReadonlySet<string>) {
    const all = [...words].filter((word) => word !== '')
    for (const word of all) {
      const key = keyAt(word, 0, word.length)
      const bucket = this.#buckets.get(key) ?? { words: new Set(), lengths: [] }
      bucket.words.add(word)
      if (!bucket.lengths.includes(word.length)) bucket.lengths.push(word.length)
      this.#buckets.set(key, bucket)
    }
    for (const { lengths } of this.#buckets.values()) lengths.sort((a, b) => b - a)
    this.longest = Math.max(0, ...all.map(({ length }) => length))
    this.cost = Math.max(1, ...[...this.#buckets.values()].map(({ lengths }) => lengths.length))
  }

  /** @param max number of places after which the search ends. */
  find(text: string, max: number): readonly Place[] {
    const places: Place[] = []
    for (let at = 0; at < text.length && places.length < max; ) {
      const length = isBoundary(text, at) ? this.#lengthAt(text, at) : 0
      if (length > 0) places.push({ start: at, end: at + length })
      at += Math.max(1, length)
    }
    return places
  }

  /** Length of the longest word that begins here; 0 for none. */
  #lengthAt(text: string, at: number): number {
    for (const length of [2, 1]) {
      const bucket = this.#buckets.get(keyAt(text, at, length))
      const found = bucket?.lengths.find(
        (each) => isBoundary(text, at + each) && bucket.words.has(text.slice(at, at + each)),
      )
      if (found !== undefined) return found
    }
    return 0
  }
}

/** Key of a word of this length, by its first two characters. */
const keyAt = (text: string, at: number, length: number): number =>
  text.charCodeAt(at) * 0x1_0000 + (length > 1 ? text.charCodeAt(at + 1) || 0 : 0)

/** Whether a word may begin or end before this character. */
const isBoundary = (text: string, at: number): boolean => kindAt(text, at - 1) !== spaced || kindAt(text, at) !== spaced
