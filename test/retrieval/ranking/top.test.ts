import { describe, expect, it } from 'vitest'
import { highest } from '#retrieval/ranking/top.ts'
import { chanceOf } from '../random-passages.ts'

describe('the highest of many values', () => {
  it.each([0, 1, 2, 10, 29, 1_000])('are those of a sort, %s of them, of equal ones the first', (limit) => {
    const chance = chanceOf(limit + 1)
    for (let round = 0; round < 40; round++) {
      const values = Float32Array.from({ length: round * 9 }, () => Math.floor(chance() * 12) / 4 - 0.5)
      const sorted = [...values.keys()]
        .filter((place) => (values[place] ?? 0) > 0)
        .toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
      expect(highest(values, limit)).toEqual(sorted.slice(0, limit))
    }
  })

  it('leave out what is no number', () => {
    expect(highest(Float32Array.of(Number.NaN, 1, Number.NaN, 2, -1, 0), 5)).toEqual([3, 1])
  })
})
