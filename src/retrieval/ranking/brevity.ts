import type { Weights } from './weights.ts'

/**
 * The weights for passages of this average length, in words that count. A short message leans on those beside it and on its
 * group; one that is long says by itself what it is about, and in more words than a question has, so that meaning counts more.
 */
export const weightsFor = (weights: Weights, averageLength: number): Weights => {
  const { brief, vector, window, neighbour, group, longVector, reply } = weights
  const share = brief === 0 ? 1 : Math.min(1, brief / Math.max(1, averageLength))
  if (brief === 0) return weights
  return {
    ...weights,
    ...{ window: window * share, neighbour: neighbour * share, group: group * (0.5 + 0.5 * share) },
    ...{ vector: vector + longVector * (1 - share), reply: reply * (1 - share) },
  }
}

/**
 * The weights for a question about what was said: no instruction or preference answers it, what does stands in many sessions
 * rather than in the one with the most of its words, and replies to the assistant say least of it.
 */
export const lookingBack = (weights: Weights): Weights => ({
  ...{ ...weights, group: 0, instruction: 0, closestInstruction: 0, preference: 0 },
  reply: weights.replyBack,
})
