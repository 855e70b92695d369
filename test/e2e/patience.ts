import { expect } from 'vitest'

/**
 * Limits for waiting for an event that usually comes at once: a shared machine can stand still for seconds at a time, and
 * a longer limit costs a passing test nothing.
 */
export const patience = { timeout: 60_000, interval: 50 } as const

/**
 * Asserts that something took less than `limitMs`. If it did not, a machine that is busy may be the reason: then as much is
 * added as `usual`, work of the same kind that ends by itself, takes three times on this machine at that moment.
 */
export const expectWithin = async (limitMs: number, tookMs: number, usual: () => Promise<unknown>): Promise<void> => {
  if (tookMs < limitMs) return
  const from = performance.now()
  await usual()
  expect(tookMs).toBeLessThan(limitMs + 3 * (performance.now() - from))
}
