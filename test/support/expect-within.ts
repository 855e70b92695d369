import { expect } from 'vitest'

/**
 * Asserts that something took less than `limitMs`. If it did not, a machine that is busy may be the reason: then as much is
 * added as `usual`, work of the same kind that ends by itself, takes three times on this machine at that moment.
 */
export const expectWithin = async (limitMs: number, tookMs: number, usual: () => Promise<unknown>): Promise<void> => {
  const from = performance.now()
  if (tookMs >= limitMs) await usual()
  expect(tookMs).toBeLessThan(limitMs + 3 * (performance.now() - from))
}
