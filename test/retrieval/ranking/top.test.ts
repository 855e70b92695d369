import { describe, expect, it } from 'vitest'
import { highest } from '#retrieval/ranking/top.ts'
import { chanceOf } from '../random-passages.ts'

describe('the highest values of an array', () => {
  it.each([0, 1, 2, 10, 29, 1_000])('equal those of a stable sort, up to %s of them', (limit) => {
    const chance = chanceOf(limit + 1)
    for (let round = 0; round < 40; round++) {
      const values = Float32Array.from({ length: round * 9 }, () => Math.floor(chance() * 12) / 4 - 0.5)
      const sorted = [...values.keys()]
        .filter((place) => (values[place] ?? 0) > 0)
        .toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
      expect(highest(values, limit)).toEqual(sorted.slice(0, limit))
    }
  })

  it('exclude values that are not positive numbers', () => {
    expect(highest(Float32Array.of(Number.NaN, 1, Number.NaN, 2, -1, 0), 5)).toEqual([3, 1])
  })
})
