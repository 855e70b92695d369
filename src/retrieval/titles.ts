import { analysisOf, type Concept, english, maxCharacters } from './analysis/analysis.ts'
import { tokensOf } from './analysis/tokens.ts'
import { idfOf } from './ranking/lexicon.ts'
import type { InvertedLists } from './segments/inverted-lists.ts'

/** Runs of letters or digits in file names: `3M_2018_10K`, `2023Q2`. */
const runs = /\p{L}+|\p{N}+/gu
/**
 * Maximum number of consecutive words of a question that may be one word of a title: "Best Buy" is `bestbuy` in many
 * file names.
 */
const maxJoined = 3
/** Maximum number of words of a question that are joined. */
const maxWords = 2_000
/** Minimum weight of the matched words for the best title to count in full. */
const enough = 1
/** Minimum number of words left in a question after those that name a document. */
const minLeft = 2
/**
 * Titles that match at least this well, relative to the best, may be what the question names, unless there are more
 * than `maxNamed`.
 */
const minNamed = 0.5
const maxNamed = 200
/**
 * Maximum number of titles that are added up for a question, the rarest words first. A long question may have words of
 * every title, which would hold the event loop.
 */
const maxSummed = 20_000
/** Exponent applied to the share of a name that a question has: half of a name counts four fifths. */
const bend = 0.3

/** Maximum number of terms whose groups are kept. */
const maxFound = 10_000

/** The titles of the documents of a segment. */
export interface TitleBlock {
  readonly titles: InvertedLists
  /** Number of the group of each document; -1 for one that is not here. */
  readonly numbers: Int32Array
  readonly titleOf: (document: number) => string
}

const groupsIn = ({ titles: { terms, lists }, numbers }: TitleBlock, term: string): readonly number[] => {
  const place = terms.placeOf(term)
  const end = place === -1 ? 0 : lists.read(place)
  const groups: number[] = []
  for (let at = 0; at < end; at += 2) {
    const group = numbers[lists.pairs[at] ?? 0] ?? -1
    if (group !== -1) groups.push(group)
  }
  return groups
}

/**
 * Words in the titles of groups, by group number. A part of a document rarely names its document: a report for 2018
 * contains "2018" no more often than that of the following year.
 */
export class Titles {
  readonly #byTerm = new Map<string, Set<number>>()
  /** Returns the title of each group, which is analysed when a question may name it. */
  readonly #titles = new Map<number, () => string>()
  readonly #terms = new Map<number, ReadonlySet<string>>()
  /** Words of each of a group's names. */
  readonly #names = new Map<number, readonly (readonly ReadonlySet<string>[])[]>()
  readonly #blocks: TitleBlock[] = []
  /** Groups by the terms that were looked up since the last change. */
  readonly #found = new Map<string, ReadonlySet<number>>()

  /** Sets or replaces the title of a group. */
  set(group: number, title: string): void {
    this.delete(group)
    this.#titles.set(group, () => title)
    for (const term of this.#termsOf(group)) {
      const groups = this.#byTerm.get(term)
      if (groups === undefined) this.#byTerm.set(term, new Set([group]))
      else groups.add(group)
    }
  }

  /** Adds the titles of the documents of a segment. */
  attach(block: TitleBlock): void {
    this.#found.clear()
    this.#blocks.push(block)
    for (const [document, group] of block.numbers.entries())
      if (group !== -1) this.#titles.set(group, () => block.titleOf(document))
  }

  delete(group: number): void {
    this.#found.clear()
    for (const { numbers } of this.#blocks) {
      const document = numbers.indexOf(group)
      if (document !== -1) numbers[document] = -1
    }
    for (const term of this.#byTerm.size === 0 ? [] : (this.#terms.get(group) ?? [])) {
      const groups = this.#byTerm.get(term)
      groups?.delete(group)
      if (groups?.size === 0) this.#byTerm.delete(term)
    }
    for (const known of [this.#titles, this.#terms, this.#names]) known.delete(group)
  }

  #termsOf(group: number): ReadonlySet<string> {
    const known = this.#terms.get(group)
    if (known !== undefined) return known
    const terms = titleTermsOf(this.#titles.get(group)?.() ?? '')
    this.#terms.set(group, terms)
    return terms
  }

  #namesOf(group: number): readonly (readonly ReadonlySet<string>[])[] {
    const known = this.#names.get(group)
    if (known !== undefined) return known
    const names = (this.#titles.get(group)?.() ?? '').split('\n').map(wordsIn)
    const some = names.filter(({ length }) => length > 0)
    this.#names.set(group, some)
    return some
  }

  /** Returns the groups whose title has the term; undefined for none. */
  #groupsOf(term: string): ReadonlySet<number> | undefined {
    if (this.#blocks.length === 0) return this.#byTerm.get(term)
    let groups = this.#found.get(term)
    if (groups === undefined) {
      groups = new Set([...(this.#byTerm.get(term) ?? []), ...this.#blocks.flatMap((block) => groupsIn(block, term))])
      if (this.#found.size >= maxFound) this.#found.clear()
      this.#found.set(term, groups)
    }
    return groups.size === 0 ? undefined : groups
  }

  /**
   * Returns how well each group's title matches the question, 0 to 1, for titles that share a word with it. The best
   * title has 1 if the question contains its full name.
   */
  fitsOf(text: string, concepts: readonly Concept[]): ReadonlyMap<number, number> {
    const sums = new Map<number, number>()
    if (this.#titles.size < 2) return sums
    const found = new Set<string>()
    let left = maxSummed
    for (const { titles, size, terms } of [...this.#foundIn(text, concepts)].toSorted((a, b) => a.size - b.size)) {
      for (const term of terms) found.add(term)
      left -= size
      if (left < 0) continue
      const groups = titles.length === 1 ? (titles[0] ?? noGroups) : new Set(titles.flatMap((each) => [...each]))
      const idf = idfOf(groups.size, this.#titles.size)
      for (const group of groups) sums.set(group, (sums.get(group) ?? 0) + idf)
    }
    let max = enough
    for (const sum of sums.values()) max = Math.max(max, sum)
    const close = [...sums].filter(([, sum]) => sum >= max * minNamed)
    for (const [group, sum] of sums) sums.set(group, sum / max)
    if (close.length > maxNamed) return sums
    for (const [group, sum] of close) sums.set(group, (sum / max) * this.#shareOf(group, found) ** bend)
    return sums
  }

  /**
   * Returns the share, by word weight, of the best-matching name that the question contains: "school" is half of
   * "Private school".
   */
  #shareOf(group: number, found: ReadonlySet<string>): number {
    const shares = this.#namesOf(group).map((name) => {
      let [all, had] = [0, 0]
      for (const word of name) {
        const idf = Math.max(...[...word].map((term) => idfOf(this.#groupsOf(term)?.size ?? 1, this.#titles.size)))
        all += idf
        if ([...word].some((term) => found.has(term))) had += idf
      }
      return had / all
    })
    return Math.max(0, ...shares)
  }

  /**
   * Returns the question without the words that name its document: "What was gross margin in" for "What was Best Buy's
   * gross margin in FY2019?". Null when no words name one, or too few others are left.
   */
  topicOf(text: string, concepts: readonly Concept[]): string | null {
    const fits = [...this.fitsOf(text, concepts)].filter(([, fit]) => fit >= minNamed)
    if (fits.length > maxNamed) return null
    const terms = new Set(fits.flatMap(([group]) => [...this.#termsOf(group)]))
    if (terms.size === 0) return null
    const words = text.slice(0, maxCharacters).split(/\s+/).filter(Boolean)
    const plain = words.map((word) => tokensOf(word.replace(/['’]s?$/u, '')).map((token) => token.text))
    const named = new Set(words.flatMap((_, at) => namedFrom(plain, at, terms)))
    const left = words.filter((_, at) => !named.has(at))
    return named.size === 0 || left.length < minLeft ? null : left.join(' ')
  }

  /** Yields each word of the question that occurs in titles. */
  *#foundIn(text: string, concepts: readonly Concept[]): Generator<Found> {
    for (const { terms } of concepts) {
      const titles = terms.flatMap((term) => this.#groupsOf(term) ?? [])
      if (titles.length > 0) yield { titles, size: titles.reduce((sum, { size }) => sum + size, 0), terms }
    }
    const words = tokensOf(text.slice(0, maxCharacters))
      .slice(0, maxWords)
      .map((word) => word.text)
    for (const joined of new Set(words.flatMap((_, at) => joinedFrom(words, at)))) {
      const groups = this.#groupsOf(joined)
      if (groups !== undefined) yield { titles: [groups], size: groups.size, terms: [joined] }
    }
  }
}

/** Returns the indices of the words, starting at `at`, that occur in a title, joined or separately. */
function namedFrom(words: readonly (readonly string[])[], at: number, terms: ReadonlySet<string>): readonly number[] {
  for (let end = Math.min(words.length, at + maxJoined); end > at + 1; end--) {
    if (terms.has(words.slice(at, end).flat().join('')))
      return Array.from({ length: end - at }, (_, place) => at + place)
  }
  const own = words[at]?.flatMap((word) => [
    word,
    ...(word.match(runs) ?? []),
    ...analysisOf(word, english).counts.keys(),
  ])
  return own?.some((term) => terms.has(term)) ? [at] : []
}

function joinedFrom(words: readonly string[], at: number): readonly string[] {
  const joined: string[] = []
  for (let end = at + 2; end <= Math.min(words.length, at + maxJoined); end++)
    joined.push(words.slice(at, end).join(''))
  return joined
}

const noGroups: ReadonlySet<number> = new Set()

/** A word of a question that occurs in titles. */
interface Found {
  /** Groups with these titles, for each stem of the word. */
  readonly titles: readonly ReadonlySet<number>[]
  /** Number of these groups, or more. */
  readonly size: number
  readonly terms: readonly string[]
}

/** Returns the words of a name, each with the terms by which it can be found; repeated words count once. */
const wordsIn = (name: string): readonly ReadonlySet<string>[] => {
  const runsIn = tokensOf(name).flatMap(({ text }) => [...new Set(text.match(runs) ?? [text])])
  return [...new Set(runsIn)].map((word) => new Set([word, ...analysisOf(word, english).counts.keys()]))
}

/** Returns the stems of a title, its unstemmed words, and the runs of letters and digits within them. */
export function titleTermsOf(title: string): ReadonlySet<string> {
  const words = tokensOf(title).map(({ text }) => text)
  const parts = words.flatMap((word) => word.match(runs) ?? [])
  return new Set([...analysisOf(title, english).counts.keys(), ...words, ...parts])
}
