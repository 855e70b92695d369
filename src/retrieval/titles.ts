import { analysisOf, type Concept, english, mostCharacters } from './analysis/analysis.ts'
import { tokensOf } from './analysis/tokens.ts'
import { idfOf } from './ranking/lexicon.ts'

/** Words of a name as files have them: `3M_2018_10K`, `2023Q2`. */
const runs = /\p{L}+|\p{N}+/gu
/** Of a question, so many words in a row may be one word of a title: "Best Buy" is `bestbuy` in many a file's name. */
const mostJoined = 3
/** What all of the words in the best title must say at least, so that it counts in full. */
const enough = 1
/** Words that a question has to be about something beside the document. */
const leastLeft = 2
/** Titles that fit half as well as the best may be what the question names, unless there are so many. */
const leastNamed = 0.5
const mostNamed = 200
/** By which the share of a name that a question has is bent: half of it counts four fifths. */
const bend = 0.3

/**
 * The words in the titles of groups, by group number. A part of a document seldom says which document it is of: a report of 2018
 * has no more of "2018" than the one of the year after.
 */
export class Titles {
  readonly #byTerm = new Map<string, Set<number>>()
  readonly #terms = new Map<number, ReadonlySet<string>>()
  /** Words of each of the names that a group has. */
  readonly #names = new Map<number, readonly (readonly ReadonlySet<string>[])[]>()

  /** Gives a group its title, in place of the one that it had. */
  set(group: number, title: string): void {
    this.delete(group)
    const terms = termsOf(title)
    this.#terms.set(group, terms)
    this.#names.set(
      group,
      title
        .split('\n')
        .map(wordsIn)
        .filter(({ length }) => length > 0),
    )
    for (const term of terms) {
      const groups = this.#byTerm.get(term)
      if (groups === undefined) this.#byTerm.set(term, new Set([group]))
      else groups.add(group)
    }
  }

  delete(group: number): void {
    for (const term of this.#terms.get(group) ?? []) {
      const groups = this.#byTerm.get(term)
      groups?.delete(group)
      if (groups?.size === 0) this.#byTerm.delete(term)
    }
    this.#terms.delete(group)
    this.#names.delete(group)
  }

  /** How well the title of each group that has a word of the question fits it, 0 to 1: the best has 1 if the question has all of its name. */
  fitsOf(text: string, concepts: readonly Concept[]): ReadonlyMap<number, number> {
    const sums = new Map<number, number>()
    if (this.#terms.size < 2) return sums
    const found = new Set<string>()
    for (const { groups, terms } of this.#found(text, concepts)) {
      const idf = idfOf(groups.size, this.#terms.size)
      for (const group of groups) sums.set(group, (sums.get(group) ?? 0) + idf)
      for (const term of terms) found.add(term)
    }
    let most = enough
    for (const sum of sums.values()) most = Math.max(most, sum)
    const close = [...sums].filter(([, sum]) => sum >= most * leastNamed)
    for (const [group, sum] of sums) sums.set(group, sum / most)
    if (close.length > mostNamed) return sums
    for (const [group, sum] of close) sums.set(group, (sum / most) * this.#shareOf(group, found) ** bend)
    return sums
  }

  /** Of the weight in words of the name that fits best, how much the question has: "school" is half of "Private school". */
  #shareOf(group: number, found: ReadonlySet<string>): number {
    const shares = (this.#names.get(group) ?? []).map((name) => {
      let [all, had] = [0, 0]
      for (const word of name) {
        const idf = Math.max(...[...word].map((term) => idfOf(this.#byTerm.get(term)?.size ?? 1, this.#terms.size)))
        all += idf
        if ([...word].some((term) => found.has(term))) had += idf
      }
      return had / all
    })
    return Math.max(0, ...shares)
  }

  /**
   * A question without the words that name the document it is about: "What was Best Buy's gross margin in FY2019?" has "What was gross
   * margin in". Null when none does, or nothing else is left.
   */
  topicOf(text: string, concepts: readonly Concept[]): string | null {
    const fits = [...this.fitsOf(text, concepts)].filter(([, fit]) => fit >= leastNamed)
    if (fits.length > mostNamed) return null
    const terms = new Set(fits.flatMap(([group]) => [...(this.#terms.get(group) ?? [])]))
    if (terms.size === 0) return null
    const words = text.slice(0, mostCharacters).split(/\s+/).filter(Boolean)
    const plain = words.map((word) => tokensOf(word.replace(/['’]s?$/u, '')).map((token) => token.text))
    const named = new Set(words.flatMap((_, at) => namedFrom(plain, at, terms)))
    const left = words.filter((_, at) => !named.has(at))
    return named.size === 0 || left.length < leastLeft ? null : left.join(' ')
  }

  /** For each word of the question that titles have, the groups whose titles have it. */
  *#found(text: string, concepts: readonly Concept[]): Generator<Found> {
    for (const { terms } of concepts) {
      const found = terms.flatMap((term) => this.#byTerm.get(term) ?? [])
      if (found.length === 1 && found[0] !== undefined) yield { groups: found[0], terms }
      else if (found.length > 1) yield { groups: new Set(found.flatMap((groups) => [...groups])), terms }
    }
    const words = tokensOf(text.slice(0, mostCharacters)).map((word) => word.text)
    for (const joined of new Set(words.flatMap((_, at) => joinedFrom(words, at)))) {
      const groups = this.#byTerm.get(joined)
      if (groups !== undefined) yield { groups, terms: [joined] }
    }
  }
}

/** Places of the words from here on that a title has, as one or by themselves. */
function namedFrom(words: readonly (readonly string[])[], at: number, terms: ReadonlySet<string>): readonly number[] {
  for (let end = Math.min(words.length, at + mostJoined); end > at + 1; end--) {
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
  for (let end = at + 2; end <= Math.min(words.length, at + mostJoined); end++)
    joined.push(words.slice(at, end).join(''))
  return joined
}

interface Found {
  readonly groups: ReadonlySet<number>
  readonly terms: readonly string[]
}

/** The words of a name, each by what it may be found by; a word that is written twice counts once. */
const wordsIn = (name: string): readonly ReadonlySet<string>[] => {
  const runsIn = tokensOf(name).flatMap(({ text }) => [...new Set(text.match(runs) ?? [text])])
  return [...new Set(runsIn)].map((word) => new Set([word, ...analysisOf(word, english).counts.keys()]))
}

/** Stems, and words as they stand: with what letters and digits of one word are by themselves. */
function termsOf(title: string): ReadonlySet<string> {
  const words = tokensOf(title).map(({ text }) => text)
  const parts = words.flatMap((word) => word.match(runs) ?? [])
  return new Set([...analysisOf(title, english).counts.keys(), ...words, ...parts])
}
