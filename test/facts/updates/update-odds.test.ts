import { describe, expect, it } from 'vitest'
import { oddsOfSigns, updatedOf } from '#facts/updates/update-odds.ts'

describe('which older statement is updated', () => {
  it('is the likeliest, for sure or in doubt', () => {
    expect(updatedOf([-3, 2, 1])).toEqual({ place: 1, sure: true })
    for (const odds of [0, -1, -2]) expect(updatedOf([odds])).toEqual({ place: 0, sure: false })
  })

  it('is none where none is likely', () => {
    expect(updatedOf([])).toBeNull()
    expect(updatedOf([-4, -3.5])).toBeNull()
  })

  it('has to be likelier among many', () => {
    const among = (count: number) => updatedOf([1.2, ...new Array<number>(count - 1).fill(-5)])
    expect([among(2)?.sure, among(4)?.sure, among(20)?.sure, among(200)]).toEqual([true, true, false, null])
    // for sure by more than in doubt
    expect(updatedOf([2, ...new Array<number>(7).fill(-5)])).toEqual({ place: 0, sure: false })
    const doubted = (count: number) => updatedOf([-1.8, ...new Array<number>(count - 1).fill(-9)])
    expect([doubted(4)?.sure, doubted(8)?.sure, doubted(20)]).toEqual([false, false, null])
  })

  it('is likelier for a statement of a change, and less so for what is said in addition or of another person', () => {
    const old = 'I play the flute'
    const plain = oddsOfSigns('The oboe is what I play', old)
    expect(oddsOfSigns('I have switched to the oboe', old)).toBeGreaterThan(plain)
    expect(oddsOfSigns('I also play the oboe', old)).toBeLessThan(plain)
    expect(oddsOfSigns('My sister switched to the oboe', old)).toBeLessThan(
      oddsOfSigns('I have switched to the oboe', old),
    )
  })
})
