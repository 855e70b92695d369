/** What the probability that a passage answers a question is estimated from. */
export interface Evidence {
  /** Cosine of the two vectors; null when there are none to compare. */
  readonly cosine: number | null
  /** How much of the question's weight in words the passage has, 0 to 1; and with the passages beside it. */
  readonly found: number
  readonly around: number
  /** Share of the question's weight in words that the whole index does not have. */
  readonly unseen: number
  /** Its fused score beside the highest of the question, 0 to 1. */
  readonly rank: number
}

interface Logistic {
  readonly bias: number
  readonly cosine: number
  readonly found: number
  readonly around: number
  readonly unseen: number
  readonly rank: number
}

const lexicalOnly: Logistic = { bias: 0.4, cosine: 0, found: 2, around: 1, unseen: -6, rank: 1 }

/** By the embedder's id, since each has cosines of its own. */
const hybrids: ReadonlyMap<string, Logistic> = new Map()
const otherHybrid: Logistic = { bias: -1, cosine: 4, found: 1, around: 1, unseen: -6, rank: 1 }

/** Score of 0 to 1 of a passage: 0.7 means that it answers the question. */
export function calibrated(evidence: Evidence, embedder: string | null): number {
  const weights = evidence.cosine === null ? lexicalOnly : (hybrids.get(embedder ?? '') ?? otherHybrid)
  const sum =
    weights.bias +
    weights.cosine * (evidence.cosine ?? 0) +
    weights.found * evidence.found +
    weights.around * evidence.around +
    weights.unseen * evidence.unseen +
    weights.rank * evidence.rank
  return 1 / (1 + Math.exp(-sum))
}
