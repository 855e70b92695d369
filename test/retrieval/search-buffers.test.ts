import { describe, expect, it } from 'vitest'
import { maxRoomSlots, maxRooms, type SearchBuffers, withRoom } from '#retrieval/search-buffers.ts'

const roomOf = (slots: number): Promise<SearchBuffers> =>
  withRoom(async (room) => {
    room.floats(slots)
    return room
  })

describe('the buffers of searches', () => {
  it('contain zeros regardless of the previous search', async () => {
    await withRoom(async (room) => {
      for (const numbers of [room.floats(9), room.integers(9), room.flags(9)]) numbers.fill(7)
    })
    const max = await withRoom(async (room) =>
      [[...room.floats(5)], [...room.integers(9)], [...room.flags(20)]].map((numbers) => Math.max(...numbers)),
    )
    expect(max).toEqual([0, 0, 0])
  })

  it('are reused, but never by two concurrent searches', async () => {
    const first = await roomOf(10)
    await withRoom(async (outer) => {
      expect(outer).toBe(first)
      await withRoom(async (inner) => expect(inner).not.toBe(outer))
    })
  })

  it('are returned after a failed search', async () => {
    const rooms: SearchBuffers[] = []
    const failing = withRoom(async (room) => {
      rooms.push(room)
      throw new Error('no such thing')
    })
    await expect(failing).rejects.toThrow('no such thing')
    expect(await roomOf(1)).toBe(rooms[0])
  })

  it('are kept up to a maximum number and size', async () => {
    const inAll = async (left: number): Promise<readonly SearchBuffers[]> =>
      left === 0 ? [] : await withRoom(async (room) => [room, ...(await inAll(left - 1))])
    const before = new Set(await inAll(maxRooms + 3))
    const again = await inAll(maxRooms + 3)
    expect(again.filter((room) => before.has(room))).toHaveLength(maxRooms)
    const large = await roomOf(maxRoomSlots + 1)
    expect(await inAll(maxRooms + 1)).not.toContain(large)
  })
})
