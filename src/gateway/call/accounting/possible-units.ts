import { tokensOfUsage, type Usage } from '#gateway/prices/usage.ts'

/** How far a report may exceed the most that is expected of a call: a factor, and an amount for the shortest calls. */
const factor = 2
const moreTokens = 16_384
const moreSeconds = 60

/**
 * Returns what a provider reports as used, but nothing that the request and its answer cannot hold: at most the images that
 * were requested, and in place of impossible tokens or seconds the most that was expected
 * (specs/decisions/0081-provider-formats.md).
 *
 * @param max the most that is expected, by which budgets hold.
 */
export const possibleUnits = (reported: Usage, max: Usage): Usage => {
  const { images, seconds, tokens } = max
  return {
    ...reported,
    ...(reported.images !== undefined && { images: Math.min(reported.images, images ?? reported.images) }),
    ...(isBeyond(reported.seconds, seconds, moreSeconds) && { seconds }),
    ...(isBeyond(tokensOfUsage(reported), tokens && tokensOfUsage(max), moreTokens) && {
      tokens: tokens && { ...tokens, estimated: true as const },
    }),
  }
}

const isBeyond = (reported: number | undefined, max: number | undefined, more: number): boolean =>
  reported !== undefined && max !== undefined && reported > factor * max + more
