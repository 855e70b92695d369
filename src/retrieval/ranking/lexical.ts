import type { Concept } from '../analysis/analysis.ts'
import type { Groups } from '../groups.ts'
import { maxTimes } from '../postings.ts'
import type { SearchBuffers } from '../search-buffers.ts'
import { feedbackOf } from './feedback.ts'
import { idfOf, type Lexicon } from './lexicon.ts'
import type { Pause } from './pause.ts'
import { shortnessOf } from './weights.ts'

/**
 * Smallest number of passages assumed when weighing words. In a smaller index, a word that no passage has would weigh
 * many times as much as one that is found.
 */
const minSize = 10

/** Lexical scores of a question, by slot. */
export interface LexicalScores {
  readonly scores: Float32Array
  /** Returns the share of the question's weight in words that a passage has, 0 to 1. */
  readonly found: (slot: number) => number
  /** Whether a passage has a word of the question that is not a name; true for a question of names only. */
  readonly isTopical: (slot: number) => boolean
  /** Returns the share that two passages have in common, 0 to 1; only of the 32 rarest words. */
  readonly shared: (slot: number, other: number) => number
  /** Sum of the inverse document frequencies of the question's words. */
  readonly total: number
  /** Share of the question's names that occur in no passage of the index. */
  readonly unseenNames: number
  /** Score of each group, as if it were one text. */
  readonly groups: Float32Array
}

interface WeighedConcept {
  readonly isName: boolean
  readonly terms: readonly number[]
  readonly idf: number
  /** Weight in the score: the inverse document frequency, more for a word that the question repeats. */
  readonly weight: number
}

/** Maximum number of words of a question that are scored, the rarest first; more would only cost time. */
const maxConcepts = 256

/** Words of the question recorded per integer, one bit each. */
const bits = 32

/** Passage length up to which the score of a term that occurs once is cached by length. */
const maxLengths = 256
/** Scores by length of the term being added. It is shared, since a search never yields while adding a term. */
const byLength = new Float64Array(maxLengths)

/** Computes scores of every passage that has a word of the question. */
export async function lexicalScores(
  lexicon: Lexicon,
  concepts: readonly Concept[],
  { pause, buffers }: { readonly pause: Pause; readonly buffers: SearchBuffers },
): Promise<LexicalScores> {
  const { weights } = lexicon
  const all = weighed(lexicon, concepts)
  const known = all.filter(({ terms }) => terms.length > 0)
  const total = all.reduce((sum, { idf }) => sum + idf, 0)
  const rarest = known.toSorted((a, b) => b.weight - a.weight).slice(0, maxConcepts)
  const shares = rarest.map(({ idf }) => idf / Math.max(total, Number.MIN_VALUE))
  const scorer = new Scorer(lexicon, shares, buffers)
  for (const concept of rarest) {
    scorer.add(concept)
    if (pause.due()) await pause.turn()
  }
  scorer.mix()
  scorer.coordinate(Math.min(all.length, maxConcepts), weights.coordination)
  const questionTerms = new Set(known.flatMap(({ terms }) => terms))
  const feedback = weights.feedback === 0 ? [] : feedbackOf(lexicon, scorer.scores, questionTerms)
  for (const { term, share } of feedback) {
    scorer.expand(term, share * weights.feedback * idfIn(lexicon.weighed, lexicon.weighed.frequency(term)))
    if (pause.due()) await pause.turn()
  }
  const { scores, found, shared } = scorer
  const isTopical = scorer.having(rarest.map(({ isName }) => !isName))
  const { groups } = scorer
  const names = all.filter(({ isName }) => isName)
  const topics = all.filter(({ isName }) => !isName)
  const unseenNames = names.filter(({ terms }) => terms.length === 0).length / Math.max(1, names.length)
  return { scores, found, shared, isTopical: topics.length === 0 ? () => true : isTopical, total, unseenNames, groups }
}

const idfIn = ({ size }: Lexicon['weighed'], frequency: number): number => idfOf(frequency, Math.max(size, minSize))

function weighed(
  { postings, weighed: by, weights: { k3 } }: Lexicon,
  concepts: readonly Concept[],
): readonly WeighedConcept[] {
  return concepts.map((concept) => {
    const terms = concept.terms.map((term) => postings.termOf(term)).filter((term) => term !== -1)
    const frequency = terms.reduce((max, term) => Math.max(max, by.frequency(term)), 0)
    const idf = idfIn(by, frequency)
    const repeated = ((k3 + 1) * concept.times) / (k3 + concept.times)
    return { isName: concept.isName, terms, idf, weight: idf * repeated }
  })
}

class Scorer {
  readonly scores: Float32Array
  readonly groups: Float32Array
  readonly #lexicon: Lexicon
  /** Share of the question's weight of each of its words, the rarest first. */
  readonly #shares: readonly number[]
  /** Bits of the question's words that each passage has: rows of one integer per slot, for 32 words each. */
  readonly #has: Int32Array
  readonly #extent: number
  readonly #groupTimes: Float32Array
  readonly #averageGroup: number
  #concept = 0

  constructor(lexicon: Lexicon, shares: readonly number[], buffers: SearchBuffers) {
    const { extent, groups } = lexicon.table
    this.#lexicon = lexicon
    this.#shares = shares
    this.#extent = extent
    this.scores = buffers.floats(extent)
    this.#has = buffers.integers(extent * Math.ceil(shares.length / bits))
    this.groups = buffers.floats(groups.extent)
    this.#groupTimes = buffers.floats(groups.extent)
    this.#averageGroup = averageLength(groups)
  }

  add({ terms, weight }: WeighedConcept): void {
    this.#groupTimes.fill(0)
    for (const term of terms) this.#addTerm(term, weight)
    this.#concept++
    this.#addToGroups(weight)
  }

  /** Uses a plain loop over the raw arrays: a word that most passages have accounts for most of a search's cost. */
  #addTerm(term: number, idf: number): void {
    const { table, weights, postings, allowed, weighed: by } = this.#lexicon
    const { entries, count } = postings.read(term)
    const { lengths } = table
    const { numbers } = table.groups
    const [scores, has, groupTimes] = [this.scores, this.#has, this.#groupTimes]
    const { k1, b, floor } = weights
    const average = Math.max(1, by.averageLength)
    const bit = 1 << (this.#concept % bits)
    const row = Math.floor(this.#concept / bits) * this.#extent
    byLength.fill(0)
    for (let at = 0; at < count; at++) {
      const entry = entries[at] ?? 0
      const times = entry & maxTimes
      const slot = entry >> 8
      if (slot >= scores.length) continue
      const words = lengths[slot] ?? 0
      let score = times === 1 ? (byLength[words] ?? 0) : 0
      if (score === 0) {
        const length = k1 * (1 - b + (b * words) / average)
        score = idf * (floor + ((k1 + 1) * times) / (times + length))
        if (times === 1) byLength[words] = score
      }
      scores[slot] = (scores[slot] ?? 0) + score
      has[row + slot] = (has[row + slot] ?? 0) | bit
      if (groupTimes.length === 0) continue
      // a passage that may not be found says nothing about its group
      const group = allowed[slot] === 1 ? (numbers[slot] ?? -1) : -1
      if (group >= 0) groupTimes[group] = (groupTimes[group] ?? 0) + times
    }
  }

  /** Adds the score of an expansion word, only to passages that have a word of the question. */
  expand(term: number, weight: number): void {
    const { postings, table, weights, weighed: by } = this.#lexicon
    const { k1, b, floor } = weights
    const average = Math.max(1, by.averageLength)
    postings.each(term, (slot, times) => {
      if (this.#matched(slot) === 0) return
      const length = k1 * (1 - b + (b * table.lengthOf(slot)) / average)
      this.scores[slot] = (this.scores[slot] ?? 0) + weight * (floor + ((k1 + 1) * times) / (times + length))
    })
  }

  coordinate(concepts: number, exponent: number): void {
    if (exponent === 0 || concepts === 0) return
    const factors = Float32Array.from({ length: concepts + 1 }, (_, matched) => (matched / concepts) ** exponent)
    for (let slot = 0; slot < this.scores.length; slot++) {
      const score = this.scores[slot] ?? 0
      if (score > 0) this.scores[slot] = score * (factors[this.#matched(slot)] ?? 1)
    }
  }

  /**
   * Gives each passage a share of the score of its whole group. A short group is about one subject, so its words say as
   * much about a passage as the passage's own; of a long group, the share falls with its length.
   */
  mix(): void {
    const { table, weights } = this.#lexicon
    const { whole } = weights
    const { groups } = table
    if (whole === 0 || groups.size === 0) return
    for (let slot = 0; slot < this.scores.length; slot++) {
      const score = this.scores[slot] ?? 0
      const group = score > 0 ? groups.numberOf(slot) : -1
      if (group === -1) continue
      const share = whole * shortnessOf(groups.sizeOf(group))
      this.scores[slot] = (1 - share) * score + share * (this.groups[group] ?? 0)
    }
  }

  readonly found = (slot: number): number => {
    let sum = 0
    if (slot < 0 || slot >= this.#extent) return sum
    for (let concept = 0; concept < this.#shares.length; concept++) {
      const row = Math.floor(concept / bits) * this.#extent
      if ((((this.#has[row + slot] ?? 0) >> (concept % bits)) & 1) === 1)
        sum = Math.fround(sum + (this.#shares[concept] ?? 0))
    }
    return sum
  }

  /** Returns whether a passage has one of these words of the question, by their positions. */
  having(isWanted: readonly boolean[]): (slot: number) => boolean {
    return (slot) =>
      isWanted.some((wanted, concept) => {
        const row = Math.floor(concept / bits) * this.#extent
        return wanted && (((this.#has[row + slot] ?? 0) >> (concept % bits)) & 1) === 1
      })
  }

  readonly shared = (slot: number, other: number): number => {
    const both = (this.#has[slot] ?? 0) & (this.#has[other] ?? 0)
    let sum = 0
    for (let bit = 0; bit < bits; bit++) if ((both >> bit) & 1) sum += this.#shares[bit] ?? 0
    return sum
  }

  /** Returns the number of the question's words that a passage has. */
  #matched(slot: number): number {
    let count = 0
    for (let at = slot; at < this.#has.length; at += this.#extent) count += bitsOf(this.#has[at] ?? 0)
    return count
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

/** Counts the set bits of a 32-bit integer (Hacker's Delight, 5-1). */
function bitsOf(number: number): number {
  let left = number - ((number >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function averageLength(groups: Groups): number {
  let sum = 0
  for (let group = 0; group < groups.extent; group++) sum += groups.lengthOf(group)
  return sum / Math.max(1, groups.size)
}
