import type { Weights } from './weights.ts'

/**
 * The weights for passages of this average length, in words that count. A short message leans on those beside it and on its
 * group; one that is long says by itself what it is about, and in more words than a question has, so that meaning counts more.
 */
export const weightsFor = (weights: Weights, averageLength: number): Weights => {
  const { brief, vector, window, neighbour, group, longVector } = weights
  const share = brief === 0 ? 1 : Math.min(1, brief / Math.max(1, averageLength))
  if (share === 1) return weights
  return {
    ...weights,
    ...{ window: window * share, neighbour: neighbour * share, group: group * (0.5 + 0.5 * share) },
    vector: vector + longVector * (1 - share),
  }
}
