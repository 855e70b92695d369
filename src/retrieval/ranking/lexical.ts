import type { Concept } from '../analysis/analysis.ts'
import { feedbackOf } from './feedback.ts'
import { idfOf, type Lexicon } from './lexicon.ts'
import type { Pause } from './pause.ts'

/** What the words of a question find, by slot. */
export interface LexicalScores {
  readonly scores: Float32Array
  /** How much of the question's weight in words a passage has, 0 to 1. */
  readonly found: Float32Array
  /** How much of that two passages have in common, 0 to 1; of the rarest words. */
  readonly shared: (slot: number, other: number) => number
  /** Share of the question's names that no passage of the index has. */
  readonly unseenNames: number
  /** Score of each group as one text. */
  readonly groups: Float32Array
}

interface WeighedConcept {
  readonly isName: boolean
  readonly terms: readonly number[]
  readonly idf: number
}

/** A question's words beyond these add nothing but time; the rarest stay. */
const mostConcepts = 256

/** So many of the rarest words are noted for each passage. */
const bits = 32

/** BM25+ (Lv and Zhai, 2011): a word that is there counts at least this much, however long the passage. */
const delta = 1

/** Scores of every passage that has a word of the question. */
export async function lexicalScores(
  lexicon: Lexicon,
  concepts: readonly Concept[],
  pause: Pause,
): Promise<LexicalScores> {
  const { table, postings, weights } = lexicon
  const all = weighed(lexicon, concepts)
  const known = all.filter(({ terms }) => terms.length > 0)
  const total = all.reduce((sum, { idf }) => sum + idf, 0)
  const scorer = new Scorer(lexicon, total)
  for (const concept of known.toSorted((a, b) => b.idf - a.idf).slice(0, mostConcepts)) {
    scorer.add(concept)
    if (pause.due()) await pause.turn()
  }
  scorer.coordinate(Math.min(all.length, mostConcepts), weights.coordination)
  const questionTerms = new Set(known.flatMap(({ terms }) => terms))
  const feedback = weights.feedback === 0 ? [] : feedbackOf(lexicon, scorer.scores, questionTerms)
  for (const { term, share } of feedback) {
    scorer.expand(term, share * weights.feedback * idfOf(postings.frequency(term), table.size))
    if (pause.due()) await pause.turn()
  }
  const { scores, found, shared } = scorer
  const groups = table.groups.extent === 0 ? new Float32Array(0) : scorer.groups
  const names = all.filter(({ isName }) => isName)
  const unseenNames = names.filter(({ terms }) => terms.length === 0).length / Math.max(1, names.length)
  return { scores, found, shared, unseenNames, groups }
}

function weighed({ postings, table }: Lexicon, concepts: readonly Concept[]): readonly WeighedConcept[] {
  return concepts.map((concept) => {
    const terms = concept.terms.map((term) => postings.termOf(term)).filter((term) => term !== -1)
    const frequency = terms.reduce((most, term) => Math.max(most, postings.frequency(term)), 0)
    return { isName: concept.isName, terms, idf: idfOf(frequency, table.size) }
  })
}

class Scorer {
  readonly scores: Float32Array
  readonly found: Float32Array
  readonly groups: Float32Array
  readonly #lexicon: Lexicon
  readonly #total: number
  /** How many of the question's words a passage has, and the last of them, so that two stems of one count once. */
  readonly #matched: Uint16Array
  readonly #last: Int32Array
  /** Which of the rarest words a passage has, a bit each. */
  readonly #has: Int32Array
  readonly #weights: number[] = []
  readonly #groupTimes: Float32Array
  readonly #averageGroup: number
  #concept = 0

  constructor(lexicon: Lexicon, total: number) {
    const { table } = lexicon
    this.#lexicon = lexicon
    this.#total = Math.max(total, Number.MIN_VALUE)
    this.scores = new Float32Array(table.extent)
    this.found = new Float32Array(table.extent)
    this.#matched = new Uint16Array(table.extent)
    this.#last = new Int32Array(table.extent)
    this.#has = new Int32Array(table.extent)
    this.groups = new Float32Array(table.groups.extent)
    this.#groupTimes = new Float32Array(table.groups.extent)
    this.#averageGroup = averageOf(this.groups.map((_, group) => table.groups.lengthOf(group)))
  }

  add({ terms, idf }: WeighedConcept): void {
    const { postings, table, weights } = this.#lexicon
    const { k1, b } = weights
    const average = Math.max(1, table.averageLength)
    const concept = ++this.#concept
    const bit = concept <= bits ? 1 << (concept - 1) : 0
    this.#weights.push(idf / this.#total)
    this.#groupTimes.fill(0)
    const visit = (slot: number, times: number): void => {
      const length = k1 * (1 - b + (b * table.lengthOf(slot)) / average)
      const score = idf * (delta + ((k1 + 1) * times) / (times + length))
      const group = table.groups.numberOf(slot)
      if (group >= 0) this.#groupTimes[group] = (this.#groupTimes[group] ?? 0) + times
      this.scores[slot] = (this.scores[slot] ?? 0) + score
      if (this.#last[slot] === concept) return
      this.#last[slot] = concept
      this.#matched[slot] = (this.#matched[slot] ?? 0) + 1
      this.#has[slot] = (this.#has[slot] ?? 0) | bit
      this.found[slot] = (this.found[slot] ?? 0) + idf / this.#total
    }
    for (const term of terms) postings.each(term, visit)
    this.#addToGroups(idf)
  }

  /** Adds what a word beside the question's own says of passages that have one of those. */
  expand(term: number, weight: number): void {
    const { postings, table, weights } = this.#lexicon
    const { k1, b } = weights
    const average = Math.max(1, table.averageLength)
    postings.each(term, (slot, times) => {
      if (this.#matched[slot] === 0) return
      const length = k1 * (1 - b + (b * table.lengthOf(slot)) / average)
      this.scores[slot] = (this.scores[slot] ?? 0) + weight * (delta + ((k1 + 1) * times) / (times + length))
    })
  }

  coordinate(concepts: number, exponent: number): void {
    if (exponent === 0 || concepts === 0) return
    const factors = Float32Array.from({ length: concepts + 1 }, (_, matched) => (matched / concepts) ** exponent)
    for (let slot = 0; slot < this.scores.length; slot++) {
      const score = this.scores[slot] ?? 0
      if (score > 0) this.scores[slot] = score * (factors[this.#matched[slot] ?? 0] ?? 1)
    }
  }

  readonly shared = (slot: number, other: number): number => {
    const both = (this.#has[slot] ?? 0) & (this.#has[other] ?? 0)
    let sum = 0
    for (let bit = 0; bit < bits; bit++) if ((both >> bit) & 1) sum += this.#weights[bit] ?? 0
    return sum
  }

  #addToGroups(idf: number): void {
    const { table, weights } = this.#lexicon
    const { k1, b } = weights
    for (let group = 0; group < this.groups.length; group++) {
      const times = this.#groupTimes[group] ?? 0
      if (times === 0) continue
      const length = k1 * (1 - b + (b * table.groups.lengthOf(group)) / Math.max(1, this.#averageGroup))
      this.groups[group] = (this.groups[group] ?? 0) + (idf * (k1 + 1) * times) / (times + length)
    }
  }
}

const averageOf = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
