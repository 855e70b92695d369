import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LocalLimits } from '#storage/local-limits.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

describe('limits of one process', () => {
  it('never allow more in any window, and return every unit soon after it', async () => {
    const pauses = fc.array(fc.record({ pause: fc.nat(400), units: fc.integer({ min: 1, max: 3 }) }), {
      maxLength: 120,
    })
    await fc.assert(
      fc.asyncProperty(pauses, fc.integer({ min: 3, max: 9 }), fc.integer({ min: 1, max: 1_000 }), checkWindow),
    )
  })

  it('neither allow more nor refuse for longer when the wall clock is changed', async () => {
    const clock = new VirtualClock()
    const limits = new LocalLimits(clock)
    const once = { limit: 1, windowMs: 60_000 }
    expect((await limits.take('key', once)).allowed).toBe(true)
    clock.set(24 * 60 * 60_000)
    expect((await limits.take('key', once)).allowed).toBe(false)
    clock.set(-48 * 60 * 60_000)
    await clock.advance(61_000)
    expect((await limits.take('key', once)).allowed).toBe(true)
  })

  it('keep at most a hundred thousand keys and drop the least recently used one', async () => {
    const limits = new LocalLimits({ steady: () => 5 })
    const once = { limit: 1, windowMs: 1_000 }
    for (let n = 0; n < 100_001; n++) await limits.take(`key-${n}`, once)
    expect((await limits.take('key-100000', once)).allowed).toBe(false)
    expect((await limits.take('key-0', once)).allowed).toBe(true)
  })
})

const checkWindow = async (
  attempts: readonly { readonly pause: number; readonly units: number }[],
  limit: number,
  windowMs: number,
): Promise<void> => {
  let now = 1_700_000_000_000
  const limits = new LocalLimits({ steady: () => now })
  const taken: { at: number; units: number }[] = []
  const since = (time: number): number => taken.filter(({ at }) => at > time).reduce((sum, { units }) => sum + units, 0)
  for (const { pause, units } of attempts) {
    now += pause
    const { allowed } = await limits.take('key', { limit, windowMs }, units)
    if (allowed) taken.push({ at: now, units })
    expect(since(now - windowMs)).toBeLessThanOrEqual(limit)
    // refused only for units that may still count: until a part of the window after its end
    const partMs = Math.max(1, windowMs / 60)
    if (!allowed) expect(since(now - windowMs - partMs - 1) + units).toBeGreaterThan(limit)
  }
}
