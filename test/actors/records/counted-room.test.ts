import { describe, expect, it } from 'vitest'
import { CountedRooms } from '#records/counted-room.ts'

const full = () => new Error('full')

/** A store that counts what was created a turn of the loop ago, and creates as slowly. */
const open = (stored = 0) => {
  const state = { stored, running: 0, most: 0 }
  const pause = () => new Promise((resolve) => setImmediate(resolve))
  const count = async () => {
    const { stored: counted } = state
    await pause()
    return counted
  }
  const create = async () => {
    state.most = Math.max(state.most, ++state.running)
    await pause()
    state.stored++
    state.running--
  }
  return { state, count, create, rooms: new CountedRooms() }
}

const outcomes = async (all: readonly Promise<unknown>[]) => {
  const settled = await Promise.allSettled(all)
  return settled.filter(({ status }) => status === 'fulfilled').length
}

describe('a limit that is counted in the store', () => {
  it('holds for any number of creations at the same time, and its last place is given', async () => {
    const { state, count, create, rooms } = open(15)
    const made = Array.from({ length: 60 }, () => rooms.within('prj_a', { max: 20, count, full }, create))
    expect(await outcomes(made)).toBe(5)
    expect(state.stored).toBe(20)
  })

  it('lets creations run at the same time while there is room for all of them', async () => {
    const { state, count, create, rooms } = open()
    await Promise.all(Array.from({ length: 10 }, () => rooms.within('prj_a', { max: 20, count, full }, create)))
    expect(state).toMatchObject({ stored: 10, most: 10 })
  })

  it('gives the place of a creation that fails to the next one', async () => {
    const { count, create, rooms } = open(19)
    const room = { max: 20, count, full }
    const failing = rooms.within('prj_a', room, () => Promise.reject(new Error('failed')))
    const next = rooms.within('prj_a', room, create)
    await expect(failing).rejects.toThrow('failed')
    await expect(next).resolves.toBeUndefined()
    await expect(rooms.within('prj_a', room, create)).rejects.toThrow('full')
  })

  it('refuses several at once only if they do not fit, and takes a smaller number after them', async () => {
    const { count, create, rooms } = open(15)
    const many = rooms.within('prj_a', { max: 20, more: 6, count, full }, create)
    const few = rooms.within('prj_a', { max: 20, more: 5, count, full }, create)
    await expect(many).rejects.toThrow('full')
    await expect(few).resolves.toBeUndefined()
  })

  it('is of one owner: others have their own room', async () => {
    const { count, create, rooms } = open(20)
    await expect(rooms.within('prj_a', { max: 20, count, full }, create)).rejects.toThrow('full')
    const other = rooms.within('prj_b', { max: 20, count: async () => 0, full }, create)
    await expect(other).resolves.toBeUndefined()
  })
})
