import { expect, it } from 'vitest'
import { BaseIndex } from '#actors/knowledge/search/base-index.ts'
import { searchBase } from '#actors/knowledge/search/search-base.ts'
import { StoredSources } from '#actors/knowledge/search/stored-sources.ts'
import { systemClock } from '#runtime/clock.ts'
import { PlacedWork } from '#runtime/internal.ts'
import { openServices } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const indexWith = (embedder: string | null) => {
  const stored = new StoredSources({ project: 'prj_a', base: 'kb_a', vectors: null, steady: () => 0 })
  const index = new BaseIndex({ embedder, stored, embedderOf: async () => embedder })
  const indexes = { of: async () => index, drop: () => {}, settle: async () => false }
  return { indexes, placed: new PlacedWork(systemClock), found: { read: async () => new Map() } }
}

it('embeds the first 2,000 characters of a long query', async () => {
  const { log } = await openServices()
  const lengths: number[] = []
  const embed = async (texts: readonly string[]) => {
    lengths.push(...texts.map(({ length }) => length))
    return texts.map(() => new Float32Array([0.6, 0.8]))
  }
  const parts = {
    ...{ ...indexWith(null), embedderOf: async () => ({ id: 'local/small', embed }) },
    ...{ vectors: null, clock: systemClock, log, now: () => 0 },
  }
  await searchBase(parts, { ...search, query: 'harbour '.repeat(2_500) })
  expect(lengths).toEqual([2_000])
})

const search = {
  ...{ project: 'prj_a', tenant: null, base: 'kb_a', top_k: 5, threshold: 0, filter: null, explain: false },
}

it.each([
  ['of an embedder that read the query', [0.6, 0.8], 'local/small', 'local/small'],
  ['null for a query that the embedder cannot read', [0, 0], 'local/small', null],
  ['null while the base has the vectors of another embedder', [0.6, 0.8], 'local/other', null],
])('the embedder in the answer of a search is %s', async (_, numbers, ofIndex, expected) => {
  const { log } = await openServices()
  const embedder = { id: 'local/small', embed: async () => [new Float32Array(numbers)] }
  const parts = {
    ...{ ...indexWith(ofIndex), embedderOf: async () => embedder },
    ...{ vectors: null, clock: systemClock, log, now: () => 0 },
  }
  const { embedder: answered } = await searchBase(parts, { ...search, query: 'harbour' })
  expect(answered).toBe(expected)
})

it('a search waits for an embedder for three seconds, then finds by words', async () => {
  const { log } = await openServices()
  const clock = new VirtualClock(0)
  const embedder = { id: 'local/small', embed: () => new Promise<never>(() => undefined) }
  const parts = {
    ...{ ...indexWith('local/small'), embedderOf: async () => embedder },
    ...{ vectors: null, clock, log, now: () => 0 },
  }
  const answer = searchBase(parts, { ...search, query: 'harbour' })
  await clock.advance(3_000)
  expect(await answer).toMatchObject({ embedder: null })
})
