import { describe, expect, it } from 'vitest'
import { RecheckCache } from '#records/caches/recheck-cache.ts'

const cacheOver = (store: Map<string, string>, maxEntries = 100) => {
  const state = { now: 0, reads: 0 }
  const cache = new RecheckCache<string>({
    load: async (hash) => {
      state.reads += 1
      return store.get(hash) ?? null
    },
    maxAgeMs: 1000,
    maxEntries,
    now: () => state.now,
  })
  return { cache, state }
}

describe('RecheckCache', () => {
  it('answers without a read for the first half of its lifetime', async () => {
    const { cache, state } = cacheOver(new Map([['a', 'ada']]))
    expect(cache.peek('a')).toBeUndefined()
    expect(await cache.load('a')).toBe('ada')
    state.now = 499
    expect(cache.peek('a')).toBe('ada')
    expect(state.reads).toBe(1)
  })

  it('reads again in the background in the second half, so that steady use never waits', async () => {
    const { cache, state } = cacheOver(new Map([['a', 'ada']]))
    await cache.load('a')
    state.now = 600
    expect(cache.peek('a')).toBe('ada')
    expect(state.reads).toBe(2)
    await cache.load('a')
    state.now = 1500
    expect(cache.peek('a')).toBe('ada')
  })

  it('returns nothing after its lifetime until it has read again', async () => {
    const { cache, state } = cacheOver(new Map([['a', 'ada']]))
    await cache.load('a')
    state.now = 1000
    expect(cache.peek('a')).toBeUndefined()
  })

  it('drops at the next check an entry that the store no longer has', async () => {
    const store = new Map([['a', 'ada']])
    const { cache, state } = cacheOver(store)
    await cache.load('a')
    store.delete('a')
    state.now = 500
    expect(cache.peek('a')).toBe('ada')
    await cache.load('a')
    expect(cache.peek('a')).toBeUndefined()
  })

  it('reads once for any number of waiting callers', async () => {
    const { cache, state } = cacheOver(new Map([['a', 'ada']]))
    expect(await Promise.all([cache.load('a'), cache.load('a'), cache.load('a')])).toEqual(['ada', 'ada', 'ada'])
    expect(state.reads).toBe(1)
  })

  it('does not keep a value that was read before a forget', async () => {
    const store = new Map([['a', 'ada']])
    const { cache } = cacheOver(store)
    const early = cache.load('a')
    store.delete('a')
    cache.forget('a')
    await early
    expect(cache.peek('a')).toBeUndefined()
    expect(await cache.load('a')).toBeNull()
  })

  it('keeps no unknown credential, and known ones only up to its limit', async () => {
    const { cache } = cacheOver(new Map(['a', 'b', 'c'].map((name) => [name, name])), 2)
    for (const hash of ['a', 'x', 'b', 'y', 'c']) await cache.load(hash)
    expect(['a', 'b', 'c', 'x'].map((hash) => cache.peek(hash))).toEqual([undefined, 'b', 'c', undefined])
  })

  it('passes an error of the store to the caller, and reads again afterwards', async () => {
    let broken = true
    const cache = new RecheckCache<string>({
      load: async () => {
        if (broken) throw new Error('store is gone')
        return 'ada'
      },
      maxAgeMs: 1000,
      maxEntries: 1,
      now: () => 0,
    })
    await expect(cache.load('a')).rejects.toThrow('store is gone')
    broken = false
    expect(await cache.load('a')).toBe('ada')
  })
})
