import type { Profile } from './weights.ts'

/** What the probability that a passage answers a question is estimated from. */
export interface Evidence {
  /** Cosine of the two vectors; null when there are none to compare. */
  readonly cosine: number | null
  /** How much of the question's weight in words the passage has, 0 to 1; and the best of it and those beside it. */
  readonly found: number
  readonly around: number
  /** Its fused score beside the highest of the question, 0 to 1. */
  readonly rank: number
  /** Whether someone else said it than the one person whom the question names. */
  readonly other: boolean
  /** Best score of what others said beside the best of the person whom the question names; 0 when it names none. */
  readonly rival: number
  /** Share of the question's names that the index does not have; with none of them known, it is about someone else. */
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
 * For memories fitted on half of the questions of LoCoMo, with questions about strangers and about the wrong person among
 * them; for documents on half of XQuAD in nine languages and of Cranfield, with the same questions to documents that lack the article
 * (specs/decisions/0230-score-of-documents.md). Both are shifted so that nine of ten that can be answered have a hit of 0.7.
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

/** What of a search is the same for all its passages. */
export interface Calibrated {
  readonly profile: Profile
  readonly embedder: string | null
}

/** Families of models whose vectors are all close to one another: the cosine from which theirs say something. */
const floors: readonly (readonly [RegExp, number])[] = [
  [/ada-002/, 0.7],
  [/e5/, 0.7],
  [/bge|gte/, 0.5],
]

/** Score of 0 to 1 of a passage: 0.7 means that it answers the question, whatever the embedder. */
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
