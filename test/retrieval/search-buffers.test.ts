import { describe, expect, it } from 'vitest'
import { maxBufferSlots, maxIdleBuffers, type SearchBuffers, withBuffers } from '#retrieval/search-buffers.ts'

const buffersOf = (slots: number): Promise<SearchBuffers> =>
  withBuffers(async (buffers) => {
    buffers.floats(slots)
    return buffers
  })

describe('the buffers of searches', () => {
  it('contain zeros regardless of the previous search', async () => {
    await withBuffers(async (buffers) => {
      for (const numbers of [buffers.floats(9), buffers.integers(9), buffers.flags(9)]) numbers.fill(7)
    })
    const max = await withBuffers(async (buffers) =>
      [[...buffers.floats(5)], [...buffers.integers(9)], [...buffers.flags(20)]].map((numbers) => Math.max(...numbers)),
    )
    expect(max).toEqual([0, 0, 0])
  })

  it('are reused, but never by two concurrent searches', async () => {
    const first = await buffersOf(10)
    await withBuffers(async (outer) => {
      expect(outer).toBe(first)
      await withBuffers(async (inner) => expect(inner).not.toBe(outer))
    })
  })

  it('are returned after a failed search', async () => {
    const used: SearchBuffers[] = []
    const failing = withBuffers(async (buffers) => {
      used.push(buffers)
      throw new Error('no such thing')
    })
    await expect(failing).rejects.toThrow('no such thing')
    expect(await buffersOf(1)).toBe(used[0])
  })

  it('are kept up to a maximum number and size', async () => {
    const inAll = async (left: number): Promise<readonly SearchBuffers[]> =>
      left === 0 ? [] : await withBuffers(async (buffers) => [buffers, ...(await inAll(left - 1))])
    const before = new Set(await inAll(maxIdleBuffers + 3))
    const again = await inAll(maxIdleBuffers + 3)
    expect(again.filter((buffers) => before.has(buffers))).toHaveLength(maxIdleBuffers)
    const large = await buffersOf(maxBufferSlots + 1)
    expect(await inAll(maxIdleBuffers + 1)).not.toContain(large)
  })
})
