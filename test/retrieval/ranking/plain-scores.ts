import { analysisOf, conceptsOf, english } from '#retrieval/analysis/analysis.ts'
import type { Passage } from '#retrieval/passage.ts'
import { weightsOf } from '#retrieval/ranking/weights.ts'

/** The scores of a passage by the words of a question. */
export interface PlainScore {
  readonly lexical: number
  readonly found: number
}

/**
 * The scores of memories in a direct implementation of the formula: BM25+ times the root of the share of found words,
 * and the share of their weight. The optimised index must return the same.
 */
export function plainScores(passages: readonly Passage[], question: string): ReadonlyMap<string, PlainScore> {
  const { k1, b, coordination } = weightsOf.memory
  const analyses = passages.map(({ speaker, text }) => analysisOf([speaker, text].filter(Boolean).join('\n'), english))
  const average = analyses.reduce((sum, { length }) => sum + length, 0) / passages.length
  const concepts = conceptsOf(question, ['en']).map(({ terms: [term = ''] }) => {
    const frequency = analyses.filter(({ counts }) => counts.has(term)).length
    return { term, idf: Math.log(1 + (passages.length - frequency + 0.5) / (frequency + 0.5)) }
  })
  const total = concepts.reduce((sum, { idf }) => sum + idf, 0)
  return new Map(
    passages.map(({ id }, at): readonly [string, PlainScore] => {
      const { counts, length } = analyses[at] ?? { counts: new Map<string, number>(), length: 0 }
      const present = concepts.filter(({ term }) => counts.has(term))
      const sum = present.reduce((all, { term, idf }) => {
        const times = counts.get(term) ?? 0
        return all + idf * (1 + ((k1 + 1) * times) / (times + k1 * (1 - b + (b * length) / average)))
      }, 0)
      const lexical = sum * (present.length / Math.max(1, concepts.length)) ** coordination
      return [id, { lexical, found: present.reduce((all, { idf }) => all + idf, 0) / total }]
    }),
  )
}
