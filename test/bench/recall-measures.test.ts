import { describe, expect, it } from 'vitest'
import { auroc, ndcgAt, recallAt, reciprocalRank } from '../../bench/recall/measures.ts'

const relevant = new Map([
  ['a', 3],
  ['b', 1],
])

describe('the measures of recall', () => {
  it('count the share of the relevant among the first', () => {
    expect([recallAt(['x', 'a', 'b'], relevant, 2), recallAt(['x', 'a', 'b'], relevant, 3)]).toEqual([0.5, 1])
  })

  it('take the place of the first that is relevant', () => {
    expect([reciprocalRank(['x', 'b'], relevant), reciprocalRank(['x'], relevant)]).toEqual([0.5, 0])
  })

  it('gain most when the best comes first', () => {
    expect(ndcgAt(['a', 'b'], relevant, 10)).toBe(1)
    expect(ndcgAt(['b', 'a'], relevant, 10)).toBeCloseTo((1 + 3 / Math.log2(3)) / (3 + 1 / Math.log2(3)))
  })

  it('say how often the one scores higher than the other, equal ones half', () => {
    expect([auroc([3, 4], [1, 2]), auroc([1], [1]), auroc([1, 3], [2])]).toEqual([1, 0.5, 0.5])
  })
})
