import { describe, expect, it } from 'vitest'
import { HandOvers, handOverLimits } from '#actors/browser/handover/hand-overs.ts'

const wanted = (job: string, owner = 'a', attempt = 1) => ({ job, owner, attempt })

describe('handovers of pages', () => {
  it.each([
    [1, { atOnce: 1, perOwner: 1 }],
    [2, { atOnce: 1, perOwner: 1 }],
    [3, { atOnce: 2, perOwner: 1 }],
    [8, { atOnce: 4, perOwner: 3 }],
  ])('of %i browsers are limited', (browsers, limits) => {
    expect(handOverLimits(browsers)).toEqual(limits)
  })

  it('take half of the browsers at most', () => {
    const handOvers = new HandOvers(handOverLimits(6))
    const [first] = [handOvers.open(wanted('j1')), handOvers.open(wanted('j2'))]
    // an owner leaves the last place to others
    expect(handOvers.open(wanted('j3'))).toBeNull()
    expect(handOvers.open(wanted('j4', 'b'))).not.toBeNull()
    expect(handOvers.open(wanted('j5', 'c'))).toBeNull()
    expect(handOvers.size).toBe(3)
    first?.close()
    expect(handOvers.open(wanted('j5', 'c'))).not.toBeNull()
  })

  it('continue for the current attempt of their job only', async () => {
    const handOvers = new HandOvers({ atOnce: 1, perOwner: 1 })
    const open = handOvers.open(wanted('j1', 'a', 2))
    handOvers.resume('j1', 1, 'of before')
    handOvers.resume('j2', 2, 'of another')
    handOvers.resume('j1', 2, 'now')
    expect(await open?.continued).toBe('now')
  })
})
