import { describe, expect, it } from 'vitest'
import { recoveryRows } from '../../bench/recovery-rows.ts'
import { holds, median, type Row, tableOf } from '../../bench/row.ts'

const row: Row = { measure: 'turns', unit: '1/s', ours: 50, against: { name: 'floor', value: 100 } }

describe('bench rows', () => {
  it('hold a bound on the ratio only when ours comes close enough', () => {
    expect(holds({ ...row, bound: { of: 'ratio', atLeast: 0.5 } })).toBe(true)
    expect(holds({ ...row, ours: 49, bound: { of: 'ratio', atLeast: 0.5 } })).toBe(false)
  })

  it('hold a bound on ours whatever it is held against', () => {
    expect(holds({ ...row, bound: { of: 'ours', atMost: 50 } })).toBe(true)
    expect(holds({ ...row, bound: { of: 'ours', atMost: 49 } })).toBe(false)
  })

  it('miss a bound on a ratio that was not measured, and one that is no number', () => {
    expect(holds({ measure: 'turns', unit: '1/s', ours: 50, bound: { of: 'ratio', atLeast: 0.5 } })).toBe(false)
    expect(holds({ ...row, ours: Number.NaN, bound: { of: 'ours', atMost: 49 } })).toBe(false)
  })

  it('stand side by side with their ratio in the table', () => {
    expect(tableOf({ turns: [{ ...row, bound: { of: 'ratio', atLeast: 0.6 } }] }).split('\n')[2]).toMatch(
      /^turns +turns +50\.0 +1\/s +floor +100 +0\.50x +>= 0\.6x +MISSED$/,
    )
  })

  it('miss the bound of a start on 50,000 open commits that is ready after more than 2,000 ms', () => {
    const judged = (readyMs: number) => {
      const times = { emptyMs: 500, readyMs, turnMs: 2600, readMs: 30, takenUpMs: 20_000 }
      return recoveryRows({ store: 'SQLite', open: 50_000 }, times).map(holds)
    }
    expect(judged(2000)).toEqual([true, true, true, null])
    expect(judged(2001)).toEqual([false, true, true, null])
  })

  it('have the middle value as their median', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([4, 1, 2, 9])).toBe(3)
  })
})
