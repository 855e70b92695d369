import { describe, expect, it } from 'vitest'
import { ahead, areNumbers, dollars, preciseTime, time } from '../../console/format.ts'

describe('times', () => {
  const now = new Date(2026, 4, 6, 12, 0, 0)

  it('have no date on the same day, in the local time zone', () => {
    expect(time(new Date(2026, 4, 6, 9, 5, 7).toISOString(), now)).toBe('09:05:07')
    expect(time(new Date(2026, 4, 5, 9, 5, 7).toISOString(), now)).toBe('2026-05-05 09:05:07')
    expect(preciseTime(new Date(2026, 4, 6, 9, 5, 7, 4).toISOString(), now)).toBe('09:05:07.004')
  })

  it('in the future are shown in the largest unit that fits', () => {
    const after = (seconds: number) => ahead(new Date(now.getTime() + seconds * 1000).toISOString(), now)
    expect([0, 1, 59, 60, 7200, 86_400 * 7].map(after)).toEqual([
      'due',
      'in 1 s',
      'in 59 s',
      'in 1 min',
      'in 2 h',
      'in 7 d',
    ])
  })
})

describe('dollars', () => {
  it('have more digits for small amounts', () => {
    expect([0, 0.0000921, 0.05, 12.3].map(dollars)).toEqual(['$0', '$0.000092', '$0.0500', '$12.30'])
  })
})

describe('a column of a table', () => {
  it.each([
    ['3', '1204'],
    ['40 ms', '1.2 s'],
    ['$0.000049', '$12.30'],
    ['33 + 8', '1,033 + 18'],
    ['7 %', '12.5K'],
  ])('is aligned by its end if all its texts are numbers: %s', (...texts) => {
    expect(areNumbers(texts)).toBe(true)
  })

  it.each([[], ['1 min ago', '2 h ago'], ['1.2.0', '1.10.0'], ['2026-11-30'], ['40 ms', 'unknown']])(
    'is aligned by its beginning otherwise: %s',
    (...texts) => {
      expect(areNumbers(texts)).toBe(false)
    },
  )
})
