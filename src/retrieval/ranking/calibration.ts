/** Evidence from which the probability that a passage of a document answers a question is estimated. */
export interface Evidence {
  /** Cosine of the vectors of question and passage; null when either has none. */
  readonly cosine: number | null
  /** Share of the question's weight in words that the passage has, 0 to 1. */
  readonly found: number
  /** Its fused score relative to the highest for the question, 0 to 1. */
  readonly rank: number
  /** Share of the question's names that the index does not have. */
  readonly unseenNames: number
}

type Logistic = Readonly<Record<'bias' | 'cosine' | 'found' | 'rank' | 'unseenNames', number>>

/**
 * Logistic models, fitted on half of XQuAD in nine languages and of Cranfield, including the same questions to documents
 * without the article (specs/decisions/0232-ranking-of-documents.md). Both are shifted so that nine of ten answerable
 * questions have a hit with a score of at least 0.7. Memories have models of their own (`memoryLogit`).
 */
const calibrations: Readonly<Record<'lexical' | 'hybrid', Logistic>> = {
  lexical: { bias: -12.3, cosine: 0, found: 8.6, rank: 9.7, unseenNames: -1.8 },
  hybrid: { bias: -20.3, cosine: 9.6, found: 6.35, rank: 13.5, unseenNames: -1.2 },
}

/** Model families whose vectors are all close to one another: the cosine above which similarity is meaningful. */
const floors: readonly (readonly [RegExp, number])[] = [
  [/ada-002/, 0.7],
  [/e5/, 0.7],
  [/bge|gte/, 0.5],
]

/** Returns the score of a passage, 0 to 1. From 0.7 it counts as answering the question, for every embedder. */
export function calibrated({ cosine, found, rank, unseenNames }: Evidence, embedder: string | null): number {
  const weights = calibrations[cosine === null ? 'lexical' : 'hybrid']
  const sum =
    weights.bias +
    weights.cosine * levelled(cosine ?? 0, embedder) +
    weights.found * found +
    weights.rank * rank +
    weights.unseenNames * unseenNames
  return 1 / (1 + Math.exp(-sum))
}

/** Returns a cosine as a share of the range that the embedder's family uses, 0 to 1. */
export function levelled(cosine: number, embedder: string | null): number {
  const floor = floors.find(([family]) => family.test(embedder ?? ''))?.[1] ?? 0
  return Math.max(0, (cosine - floor) / (1 - floor))
}
