import { describe, expect, it } from 'vitest'
import { CountedLimits } from '#records/counted-limits.ts'

const full = () => new Error('full')

/** A store whose counts and creations each take one turn of the event loop. */
const open = (stored = 0) => {
  const state = { stored, running: 0, max: 0, counts: 0 }
  const pause = () => new Promise((resolve) => setImmediate(resolve))
  const count = async () => {
    state.counts++
    const { stored: counted } = state
    await pause()
    return counted
  }
  const create = async () => {
    state.max = Math.max(state.max, ++state.running)
    await pause()
    state.stored++
    state.running--
  }
  return { state, count, create, limits: new CountedLimits() }
}

const outcomes = async (all: readonly Promise<unknown>[]) => {
  const settled = await Promise.allSettled(all)
  return settled.filter(({ status }) => status === 'fulfilled').length
}

describe('a limit that is counted in the store', () => {
  it('holds for simultaneous creations, and its last place is given', async () => {
    const { state, count, create, limits } = open(15)
    const made = Array.from({ length: 60 }, () => limits.within('prj_a', { max: 20, count, full }, create))
    expect(await outcomes(made)).toBe(5)
    expect(state.stored).toBe(20)
  })

  it('lets creations run concurrently while all of them fit', async () => {
    const { state, count, create, limits } = open()
    await Promise.all(Array.from({ length: 10 }, () => limits.within('prj_a', { max: 20, count, full }, create)))
    expect(state).toMatchObject({ stored: 10, max: 10 })
  })

  it.each([0, 490, 500])('counts at most three times for each request if %i of 500 are stored', async (stored) => {
    const { state, count, create, limits } = open(stored)
    const limit = { max: 500, count, full }
    expect(await outcomes(Array.from({ length: 1000 }, () => limits.within('prj_a', limit, create)))).toBe(500 - stored)
    expect(state.counts).toBeLessThanOrEqual(3000)
  })

  it('gives the place of a creation that fails to the next one', async () => {
    const { count, create, limits } = open(19)
    const limit = { max: 20, count, full }
    const failing = limits.within('prj_a', limit, () => Promise.reject(new Error('failed')))
    const next = limits.within('prj_a', limit, create)
    await expect(failing).rejects.toThrow('failed')
    await expect(next).resolves.toBeUndefined()
    await expect(limits.within('prj_a', limit, create)).rejects.toThrow('full')
  })

  it('refuses a batch that does not fit, and admits a smaller one after it', async () => {
    const { count, create, limits } = open(15)
    const many = limits.within('prj_a', { max: 20, more: 6, count, full }, create)
    const few = limits.within('prj_a', { max: 20, more: 5, count, full }, create)
    await expect(many).rejects.toThrow('full')
    await expect(few).resolves.toBeUndefined()
  })

  it('applies to each owner separately', async () => {
    const { count, create, limits } = open(20)
    await expect(limits.within('prj_a', { max: 20, count, full }, create)).rejects.toThrow('full')
    const other = limits.within('prj_b', { max: 20, count: async () => 0, full }, create)
    await expect(other).resolves.toBeUndefined()
  })
})
