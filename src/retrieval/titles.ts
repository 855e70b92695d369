import { analysisOf, type Concept, english, mostCharacters } from './analysis/analysis.ts'
import { tokensOf } from './analysis/tokens.ts'
import { idfOf } from './ranking/lexicon.ts'

/** Words of a name as files have them: `3M_2018_10K`, `2023Q2`. */
const runs = /\p{L}+|\p{N}+/gu
/** Of a question, so many words in a row may be one word of a title: "Best Buy" is `bestbuy` in many a file's name. */
const mostJoined = 3
/** What all of the words in the best title must say at least, so that it counts in full. */
const enough = 1

/**
 * The words in the titles of groups, by group number. A part of a document seldom says which document it is of: a report of 2018
 * has no more of "2018" than the one of the year after.
 */
export class Titles {
  readonly #byTerm = new Map<string, Set<number>>()
  readonly #terms = new Map<number, ReadonlySet<string>>()

  /** Gives a group its title, in place of the one that it had. */
  set(group: number, title: string): void {
    this.delete(group)
    const terms = termsOf(title)
    this.#terms.set(group, terms)
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
  }

  /** How well the title of each group that has a word of the question fits it, 0 to 1: the best has 1. */
  fitsOf(text: string, concepts: readonly Concept[]): ReadonlyMap<number, number> {
    const sums = new Map<number, number>()
    if (this.#terms.size < 2) return sums
    for (const groups of this.#found(text, concepts)) {
      const idf = idfOf(groups.size, this.#terms.size)
      for (const group of groups) sums.set(group, (sums.get(group) ?? 0) + idf)
    }
    const most = Math.max(enough, ...sums.values())
    for (const [group, sum] of sums) sums.set(group, sum / most)
    return sums
  }

  /** For each word of the question that titles have, the groups whose titles have it. */
  *#found(text: string, concepts: readonly Concept[]): Generator<ReadonlySet<number>> {
    for (const { terms } of concepts) {
      const found = terms.flatMap((term) => this.#byTerm.get(term) ?? [])
      if (found.length === 1 && found[0] !== undefined) yield found[0]
      else if (found.length > 1) yield new Set(found.flatMap((groups) => [...groups]))
    }
    const words = tokensOf(text.slice(0, mostCharacters)).map((word) => word.text)
    for (const joined of new Set(words.flatMap((_, at) => joinedFrom(words, at)))) {
      const groups = this.#byTerm.get(joined)
      if (groups !== undefined) yield groups
    }
  }
}

function joinedFrom(words: readonly string[], at: number): readonly string[] {
  const joined: string[] = []
  for (let end = at + 2; end <= Math.min(words.length, at + mostJoined); end++)
    joined.push(words.slice(at, end).join(''))
  return joined
}

/** Stems, and words as they stand: with what letters and digits of one word are by themselves. */
function termsOf(title: string): ReadonlySet<string> {
  const words = tokensOf(title).map(({ text }) => text)
  const parts = words.flatMap((word) => word.match(runs) ?? [])
  return new Set([...analysisOf(title, english).counts.keys(), ...words, ...parts])
}
