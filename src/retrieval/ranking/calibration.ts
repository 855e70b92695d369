import type { Profile } from './weights.ts'

/** Evidence from which the probability that a passage answers a question is estimated. */
export interface Evidence {
  /** Cosine of the vectors of question and passage; null when either has none. */
  readonly cosine: number | null
  /** Share of the question's weight in words that the passage has, 0 to 1; and the maximum of it and its neighbours. */
  readonly found: number
  readonly around: number
  /** Its fused score relative to the highest for the question, 0 to 1. */
  readonly rank: number
  /** Whether it was said by someone other than the one person named in the question. */
  readonly other: boolean
  /**
   * Best score of passages by others, relative to the best of the person named in the question; 0 when it names none.
   */
  readonly rival: number
  /**
   * Share of the question's names that the index does not have; when it has none of them, the question is about someone
   * else.
   */
  readonly unseenNames: number
}

interface Logistic {
  readonly bias: number
  readonly cosine: number
  readonly found: number
  readonly around: number
  readonly rank: number
  readonly other: number
  readonly rival: number
  readonly unseenNames: number
  readonly noneKnown: number
}

interface Calibration {
  readonly lexical: Logistic
  readonly hybrid: Logistic
}

/**
 * Logistic models. The one for memories is fitted on half of the questions of LoCoMo, including questions about unknown
 * people and about the wrong person. The one for documents is fitted on half of XQuAD in nine languages and of
 * Cranfield, including the same questions to documents without the article
 * (specs/decisions/0230-score-of-documents.md). Both are shifted so that nine of ten answerable questions have a hit
 * with a score of at least 0.7.
 */
const calibrations: Readonly<Record<Profile, Calibration>> = {
  memory: {
    lexical: {
      ...{ bias: -3.76, cosine: 0, found: 0.4, around: 2.09, rank: 4.66, other: -1.93, rival: -0.74 },
      ...{ unseenNames: -2.97, noneKnown: -2.77 },
    },
    hybrid: {
      ...{ bias: -5.24, cosine: 0.47, found: 0.51, around: 2.26, rank: 5.75, other: -1.81, rival: -0.63 },
      ...{ unseenNames: -2.43, noneKnown: -3.05 },
    },
  },
  document: {
    lexical: {
      ...{ bias: -12.3, cosine: 0, found: 8.6, around: 0, rank: 9.7, other: 0, rival: 0 },
      ...{ unseenNames: -1.8, noneKnown: 0 },
    },
    hybrid: {
      ...{ bias: -20.3, cosine: 9.6, found: 6.35, around: 0, rank: 13.5, other: 0, rival: 0 },
      ...{ unseenNames: -1.2, noneKnown: 0 },
    },
  },
}

/** Parameters that are the same for all passages of a search. */
export interface Calibrated {
  readonly profile: Profile
  readonly embedder: string | null
}

/** Model families whose vectors are all close to one another: the cosine above which similarity is meaningful. */
const floors: readonly (readonly [RegExp, number])[] = [
  [/ada-002/, 0.7],
  [/e5/, 0.7],
  [/bge|gte/, 0.5],
]

/** Returns the score of a passage, 0 to 1. From 0.7 it counts as answering the question, for every embedder. */
export function calibrated(evidence: Evidence, { profile, embedder }: Calibrated): number {
  const { cosine, found, around, rank, other, rival, unseenNames } = evidence
  const weights = calibrations[profile][cosine === null ? 'lexical' : 'hybrid']
  const sum =
    weights.bias +
    weights.cosine * levelled(cosine ?? 0, embedder ?? '') +
    weights.found * found +
    weights.around * around +
    weights.rank * rank +
    weights.other * Number(other) +
    weights.rival * rival +
    weights.unseenNames * unseenNames +
    weights.noneKnown * Number(unseenNames === 1)
  return 1 / (1 + Math.exp(-sum))
}

function levelled(cosine: number, embedder: string): number {
  const floor = floors.find(([family]) => family.test(embedder))?.[1] ?? 0
  return Math.max(0, (cosine - floor) / (1 - floor))
}
