import { describe, expect, it } from 'vitest'
import { type SourceVectors, StoredSources } from '#actors/knowledge/search/stored-sources.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { VectorStore } from '#storage/search/vector-port.ts'

const embedder = 'model/small'
const min = 100

/** A source with this many chunks, all of which have vectors by the embedder unless another one is named. */
const source = (id: string, chunks: number, by: string | null = embedder): SourceVectors & { chunks: number } => ({
  ...{ id, chunks },
  vectors: by === null ? null : { embedder: by, count: chunks },
})

describe('the vectors of a base', () => {
  const world = () => {
    const counts: Record<string, number> = { a: 60, b: 60 }
    const state = { counts, isReady: true, isAway: false, now: 0, reads: 0 }
    const vectors: VectorStore = {
      ...{
        min,
        put: async () => {},
        count: async () => 0,
        nearest: async () => [],
        get: async () => [],
        removeGroups: async () => {},
        removeProject: async () => {},
      },
      isReady: async () => state.isReady,
      space: async (project, space) => {
        expect([project, space]).toEqual(['prj_1', `kb_1 ${embedder}`])
        if (state.isAway) throw new StoreUnavailable('away')
        state.reads++
        return { counts: new Map(Object.entries(state.counts)), dimensions: 8 }
      },
    }
    const stored = new StoredSources({ project: 'prj_1', base: 'kb_1', vectors, steady: () => state.now })
    const of = async (rows: readonly ReturnType<typeof source>[], by: string | null = embedder) => {
      state.now += 60_000
      await stored.update({ total: rows.reduce((sum, { chunks }) => sum + chunks, 0), sources: rows }, by)
      return rows.filter((row) => stored.has(row)).map(({ id }) => id)
    }
    return { state, stored, of }
  }
  const [a, b] = [source('a', 60), source('b', 60)]

  it('are searched by the database once the base is large and all of a source are stored', async () => {
    const { state, stored, of } = world()
    expect(await of([a])).toEqual([])
    expect(stored.lacks(a)).toBe(false)
    expect(await of([a, b])).toEqual(['a', 'b'])
    state.counts = { a: 60, b: 59 }
    expect(await of([a, b])).toEqual(['a'])
    expect(stored.lacks(b)).toBe(true)
  })

  it('are not searched by the database before its index is ready, nor with another embedder', async () => {
    const { state, stored, of } = world()
    state.isReady = false
    expect(await of([a, b])).toEqual([])
    expect(stored.lacks(a)).toBe(false)
    state.isReady = true
    expect(await of([a, source('b', 60, 'model/older')])).toEqual(['a'])
    expect(await of([a, b], null)).toEqual([])
  })

  it('stay with the database until the base is clearly smaller', async () => {
    const { of } = world()
    expect(await of([source('a', 60), source('b', 20)])).toEqual([])
    expect(await of([a, b])).toEqual(['a', 'b'])
    expect(await of([source('a', 60), source('b', 20)])).toEqual(['a', 'b'])
    expect(await of([source('a', 60), source('b', 10)])).toEqual([])
    expect(await of([source('a', 60), source('b', 20)])).toEqual([])
  })

  it('stay where they are while the database does not answer', async () => {
    const { state, of } = world()
    expect(await of([a, b])).toEqual(['a', 'b'])
    state.isAway = true
    expect(await of([a, b])).toEqual(['a', 'b'])
  })

  it('are read by the process after the database has failed for long, and tried again later', async () => {
    const { state, stored, of } = world()
    expect(await of([a, b])).toEqual(['a', 'b'])
    stored.noteSearch(false)
    stored.noteSearch(true)
    expect(await of([a, b])).toEqual(['a', 'b'])
    stored.noteSearch(false)
    expect(stored.has(a)).toBe(true)
    expect(await of([a, b])).toEqual(['a', 'b'])
    stored.noteSearch(false)
    expect(await of([a, b])).toEqual([])
    state.now += 5 * 60_000
    expect(await of([a, b])).toEqual(['a', 'b'])
  })

  it('stay with the database after a single failure, however long nothing is searched', async () => {
    const { state, stored, of } = world()
    expect(await of([a, b])).toEqual(['a', 'b'])
    stored.noteSearch(false)
    state.now += 60 * 60_000
    expect(await of([a, b])).toEqual(['a', 'b'])
  })

  it('are not stored for new sources while the base is smaller than the size at which that starts', async () => {
    const { state, stored, of } = world()
    expect(await of([a, b])).toEqual(['a', 'b'])
    const small = source('b', 20)
    state.counts = { a: 60 }
    expect(await of([a, small])).toEqual(['a'])
    expect(stored.lacks(small)).toBe(false)
    expect(await of([a, source('b', 60)])).toEqual(['a'])
    expect(stored.lacks(source('b', 60))).toBe(true)
  })

  it('are not counted again for each search', async () => {
    const { state, stored } = world()
    for (let times = 0; times < 5; times++) await stored.update({ total: 120, sources: [a, b] }, embedder)
    expect(state.reads).toBe(1)
  })
})
