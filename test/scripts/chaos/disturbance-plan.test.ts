import { describe, expect, it } from 'vitest'
import { disturbanceKinds, planOf } from '#scripts/chaos/disturbance-plan.ts'

const minutes = 60_000
const seeds = Array.from({ length: 50 }, (_, at) => at + 1)

describe('a disturbance plan', () => {
  it('is equal for equal seeds, and differs for different ones', () => {
    expect(planOf(7, 2 * minutes)).toEqual(planOf(7, 2 * minutes))
    expect(planOf(7, 2 * minutes)).not.toEqual(planOf(8, 2 * minutes))
  })

  it('of two minutes kills a node at least 20 times, and has every other disturbance at least once', () => {
    for (const seed of seeds) {
      const kinds = planOf(seed, 2 * minutes).map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'kill').length).toBeGreaterThanOrEqual(20)
      expect([...new Set(kinds)].sort()).toEqual([...disturbanceKinds].sort())
    }
  })

  it('is in order and within its time, and its pauses outlast a lease', () => {
    for (const seed of seeds) {
      const plan = planOf(seed, minutes)
      expect(plan.map(({ atMs }) => atMs)).toEqual(plan.map(({ atMs }) => atMs).sort((one, other) => one - other))
      expect(plan.at(-1)?.atMs).toBeLessThan(minutes)
      for (const { kind, forMs } of plan) if (kind === 'pause') expect(forMs).toBeGreaterThan(4000)
    }
  })

  it('has only the given kinds', () => {
    const kinds = new Set(planOf(3, 2 * minutes, ['kill', 'redis']).map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(['kill', 'redis'])
    expect(planOf(3, 2 * minutes, ['pause']).every(({ kind }) => kind === 'pause')).toBe(true)
  })
})
