import { idfOf, type Lexicon } from './lexicon.ts'
import { highest } from './top.ts'

/** An expansion word: one that the best passages have in addition to the question's. */
export interface FeedbackTerm {
  readonly term: number
  /** Weight relative to the heaviest word, 0 to 1. */
  readonly share: number
}

/** Number of best passages assumed to be relevant to the query. */
const feedbackPassages = 5
/** An expansion word occurs in at least this many of them, and in at most this share of all passages. */
const min = 2
const frequent = 0.1
const maxTerms = 10

/**
 * Returns words that the best passages have in common (Lavrenko and Croft, 2001). They distinguish passages on the
 * subject from others with equally many of the question's words.
 */
export const feedbackOf = (
  { postings, table, weights, allowed, weighed }: Lexicon,
  scores: Float32Array,
  own: ReadonlySet<number>,
): readonly FeedbackTerm[] => {
  const best = highest(
    scores.map((score, slot) => (allowed[slot] === 1 ? score : 0)),
    feedbackPassages,
  )
  const max = scores[best[0] ?? -1] ?? 1
  const average = Math.max(1, weighed.averageLength)
  const sums = new Map<number, { sum: number; passages: number }>()
  for (const slot of best) {
    const length = weights.k1 * (1 - weights.b + (weights.b * table.lengthOf(slot)) / average)
    const close = (scores[slot] ?? 0) / max
    postings.eachOf(table.rangeOf(slot), (term, times) => {
      if (own.has(term)) return
      const { sum, passages } = sums.get(term) ?? { sum: 0, passages: 0 }
      sums.set(term, { sum: sum + (close * times) / (times + length), passages: passages + 1 })
    })
  }
  const commonest = weighed.size * frequent
  const terms = [...sums]
    .filter(([term, { passages }]) => passages >= min && weighed.frequency(term) <= commonest)
    .map(([term, { sum }]) => ({ term, weight: sum * idfOf(weighed.frequency(term), weighed.size) }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, maxTerms)
  const heaviest = terms[0]?.weight ?? 1
  return terms.map(({ term, weight }) => ({ term, share: weight / heaviest }))
}
