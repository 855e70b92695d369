import type { Weights } from './weights.ts'

/**
 * Adapts the weights to the average passage length, in content words. A short message depends on its neighbours and its
 * group for context. A long one states its subject itself, and in more words than a question has, so that its vector
 * counts more.
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
 * Adapts the weights to a question about what was said. Instructions and preferences do not answer it; the answer may
 * be in any session, not just in the one with the most of its words; and replies to the assistant contribute the least.
 */
export const referringBack = (weights: Weights): Weights => ({
  ...{ ...weights, group: 0, instruction: 0, closestInstruction: 0, preference: 0 },
  reply: weights.replyBack,
})
