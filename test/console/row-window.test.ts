import { describe, expect, it } from 'vitest'
import { rowsWithin, topOf } from '../../console/row-window.ts'

const rows = [10, 20, 30, 40].map((height) => ({ height }))

describe('rows of a long list', () => {
  it('begin where the rows before them end', () => {
    expect([0, 1, 2, 3, 4].map((index) => topOf(rows, index))).toEqual([0, 10, 30, 60, 100])
  })

  it.each([
    [0, 1, { first: 0, end: 1 }],
    [10, 30, { first: 1, end: 2 }],
    [9, 31, { first: 0, end: 3 }],
    [99, 500, { first: 3, end: 4 }],
    [-50, 1000, { first: 0, end: 4 }],
    [-50, -10, { first: 0, end: 1 }],
    [500, 600, { first: 3, end: 4 }],
  ])('are rendered if the range from %i to %i px touches them, at least one', (from, to, found) => {
    expect(rowsWithin(rows, from, to)).toEqual(found)
  })

  it('are none for an empty list', () => {
    expect(rowsWithin([], 0, 100)).toEqual({ first: 0, end: 0 })
  })
})
