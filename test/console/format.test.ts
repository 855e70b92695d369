import { describe, expect, it } from 'vitest'
import { ahead, dollars, preciseTime, time } from '../../console/format.js'

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
