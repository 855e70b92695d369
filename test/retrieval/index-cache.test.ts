import { describe, expect, it } from 'vitest'
import { IndexBound, IndexCache } from '#retrieval/index-cache.ts'

const cacheOf = (maxBytes: number) => {
  const loads: string[] = []
  const load = async (key: string) => {
    loads.push(key)
    if (key === 'broken' && loads.length === 1) throw new Error('the store is away')
    const changes: string[] = []
    return { key, bytes: 10, changes }
  }
  return { loads, cache: new IndexCache({ bound: new IndexBound(maxBytes), load }) }
}

describe('the cache of indexes', () => {
  it('loads an index once for concurrent requests', async () => {
    const { loads, cache } = cacheOf(100)
    const [one, other] = await Promise.all([cache.get('a'), cache.get('a')])
    expect([loads, one === other]).toEqual([['a'], true])
  })

  it('evicts the least recently used index when it exceeds its size', async () => {
    const { loads, cache } = cacheOf(20)
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(key)
    expect([loads, cache.size]).toEqual([['a', 'b', 'c', 'b'], 2])
  })

  it('keeps a single index that exceeds its size', async () => {
    const { loads, cache } = cacheOf(1)
    await cache.get('a')
    await cache.get('a')
    expect(loads).toEqual(['a'])
  })

  it('loads an index again that was dropped', async () => {
    const { loads, cache } = cacheOf(100)
    await cache.get('a')
    cache.drop('a')
    await cache.get('a')
    expect(loads).toEqual(['a', 'a'])
  })

  it('does not cache a failed load', async () => {
    const { cache } = cacheOf(100)
    await expect(cache.get('broken')).rejects.toThrow('the store is away')
    expect(await cache.get('broken')).toMatchObject({ key: 'broken' })
  })

  it('applies an update to an index that is being loaded', async () => {
    const { cache } = cacheOf(100)
    const loading = cache.get('a')
    cache.update('a', ({ changes }) => changes.push('first'))
    cache.update('b', ({ changes }) => changes.push('to none'))
    await loading
    cache.update('a', ({ changes }) => changes.push('second'))
    expect(await cache.get('a')).toMatchObject({ changes: ['first', 'second'] })
  })

  it('shares its size with other caches, by what each index takes when it is used', async () => {
    const bound = new IndexBound(30)
    const sizes = new Map([
      ['a', { bytes: 10 }],
      ['b', { bytes: 10 }],
      ['c', { bytes: 10 }],
    ])
    const cache = () => new IndexCache({ bound, load: async (key) => sizes.get(key) ?? { bytes: 0 } })
    const [one, other] = [cache(), cache()]
    for (const key of ['a', 'b']) await one.get(key)
    await other.get('c')
    expect([one.size, other.size]).toEqual([2, 1])
    Object.assign(sizes.get('c') ?? {}, { bytes: 25 })
    await other.get('c')
    expect([one.size, other.size]).toEqual([0, 1])
    other.dropAll((key) => key === 'c')
    for (const key of ['a', 'b']) await one.get(key)
    expect([one.size, other.size]).toEqual([2, 0])
  })
})
