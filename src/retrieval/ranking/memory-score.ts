/** Evidence from which the probability that a memory answers a question is estimated. */
export interface MemoryEvidence {
  /**
   * By how many standard deviations their cosine is above those of the question with unrelated texts, and of the memory
   * with unrelated questions; null when either has no vector.
   */
  readonly vector: { readonly ofQuestion: number; readonly ofMemory: number } | null
  /** Logarithm of the odds that it answers, from reading both together (`PairReader`); null when it was not read. */
  readonly read: number | null
  /** Share of the question's weight in words that the memory has, 0 to 1; and the maximum of it and its neighbours. */
  readonly found: number
  readonly around: number
  /** Sum of the inverse document frequencies of the question's words, and of those that the memory has. */
  readonly total: number
  readonly matched: number
  /** Whether it has a word of the question that is not a name: a name says whom a memory is about, not what. */
  readonly isTopical: boolean
  /** Words of the memory. */
  readonly length: number
  /** Memories that the search may find. */
  readonly size: number
  /**
   * Share of the memories searched that are turns of named people. A question that names one of them is close to all
   * that was said by or to that person, so vectors say little.
   */
  readonly spoken: number
  /** Whether it was said by someone other than the one person named in the question. */
  readonly other: boolean
  /** Best score by words of memories by others, relative to the best of the person named; 0 when none is named. */
  readonly rival: number
  /** Share of the question's names that no memory has. */
  readonly unseenNames: number
}

/** The evidence as numbers of a similar range. */
export type MemoryFeatures = Readonly<Record<(typeof memoryFeatures)[number], number>>

const memoryFeatures = [
  ...(['read', 'question', 'memory', 'found', 'around', 'matched', 'total', 'onlyNames', 'length', 'size'] as const),
  ...(['crowd', 'other', 'rival', 'unseenNames', 'noneKnown'] as const),
] as const

type Weights = MemoryFeatures & { readonly bias: number }

/**
 * Logistic models, with vectors and by words alone, fitted by the features of `bench/calibration/fit.ts` on scopes of 1 to 1,000
 * memories in several styles and languages, and with several embedders (specs/decisions/0263-score-of-a-memory.md); and
 * with vectors for the turns of conversations between named people, fitted on half of the questions of LoCoMo. A
 * large scope has more memories that resemble a question by chance: that is what the weight of `size` stands for. The
 * position of a memory among the others does not count.
 *
 * `read` is for memories that the packaged model has judged, with a vector or without one yet
 * (specs/decisions/0310-reading-memories.md): of the size it knows only how far it is below `few`.
 */
const models: Readonly<Record<'vectors' | 'conversation' | 'words' | 'read', Weights>> = {
  read: {
    ...{ bias: 4.21, read: 0.84, question: 0, memory: 0, found: 0, around: 0, matched: 0, total: 0, length: 0 },
    ...{ onlyNames: 0, size: 0, crowd: -1.6, other: -1.81, rival: -0.63, unseenNames: -2.43, noneKnown: -3.05 },
  },
  vectors: {
    ...{
      bias: 0.1,
      read: 0,
      question: 0.89,
      memory: 1.1,
      found: 1.72,
      around: 1,
      matched: -0.8,
      total: -0.14,
      length: 0.14,
    },
    ...{ onlyNames: 0, size: -1.41, crowd: 0, other: -1.81, rival: -0.63, unseenNames: -2.43, noneKnown: -3.05 },
  },
  conversation: {
    ...{
      bias: -1.4,
      read: 0,
      question: 0.14,
      memory: 0.19,
      found: 2.61,
      around: 2.53,
      matched: 0.97,
      total: 0.29,
      length: 0.63,
    },
    ...{ onlyNames: 0, size: -1, crowd: 0, other: -3.56, rival: -0.63, unseenNames: -1, noneKnown: -3.06 },
  },
  words: {
    ...{ bias: 0.05, read: 0, question: 0, memory: 0, found: 5.5, around: 2.5, matched: 0.8, total: 0, length: -0.5 },
    ...{ onlyNames: -2.5, size: -0.75, crowd: 0, other: -1.93, rival: -0.74, unseenNames: -2.97, noneKnown: -2.77 },
  },
}

/**
 * Number of memories up to which the reader's score depends on it: among so many of one person, something resembles a
 * question that none answers; what others say adds little to that.
 */
const few = 20

/** Returns the feature of the number of memories for what was read. */
export const crowdOf = (size: number): number => Math.log1p(Math.min(size, few)) / 2

/** Returns the features of the evidence. */
export const featuresOf = (evidence: MemoryEvidence): MemoryFeatures => ({
  read: evidence.read ?? 0,
  question: evidence.vector?.ofQuestion ?? 0,
  memory: evidence.vector?.ofMemory ?? 0,
  found: evidence.found,
  around: evidence.around - evidence.found,
  matched: evidence.matched / 5,
  total: evidence.total / 10,
  onlyNames: Number(evidence.found > 0 && !evidence.isTopical),
  length: Math.log1p(evidence.length),
  size: Math.log1p(evidence.size) / 2,
  crowd: crowdOf(evidence.size),
  other: Number(evidence.other),
  rival: evidence.rival,
  unseenNames: evidence.unseenNames,
  noneKnown: Number(evidence.unseenNames === 1),
})

/** Returns the logarithm of the odds that a memory answers the question: 0 for a probability of one half. */
export function memoryLogit(evidence: MemoryEvidence): number {
  const features = featuresOf(evidence)
  const by = (model: keyof typeof models): number =>
    memoryFeatures.reduce((sum, name) => sum + models[model][name] * features[name], models[model].bias)
  const { spoken, vector, read, found, isTopical } = evidence
  const judged = (): number => {
    if (read === null) return by(vector === null ? 'words' : 'vectors')
    const odds = by('read')
    // a code or a rare name means nothing to the reader
    return found >= nearlyAll && isTopical ? Math.max(odds, by('words')) : odds
  }
  if (spoken === 0 || vector === null) return judged()
  return (1 - spoken) * judged() + spoken * by('conversation')
}

/** Share of the question's words from which they suffice. */
const nearlyAll = 0.8

export const probabilityOf = (logit: number): number => 1 / (1 + Math.exp(-logit))
