import { expect, it } from 'vitest'
import { searchPages } from '#actors/web/search/search-pages.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { type Clock, systemClock } from '#runtime/clock.ts'
import { PlacedWork } from '#runtime/internal.ts'
import { StoreUnavailable } from '#storage/index.ts'

/** Parts of a search over a project and the shared corpus. */
const partsWith = (
  search: (project: string) => Promise<readonly never[]>,
  clock: Pick<Clock, 'after'> = systemClock,
) => ({
  indexes: { search, rows: async () => new Map(), correct: async () => {}, hasRecent: () => false },
  ...{ placed: new PlacedWork(systemClock), embedder: null, shared: 'prj_shared', now: () => 0, clock },
})

it.each([
  ['only the project while the shared corpus cannot be searched', ['prj_shared'], 'troupe-web-2:lexical:project-only'],
  ['only the shared corpus while the project cannot be searched', ['prj_a'], 'troupe-web-2:lexical:shared-only'],
  ['no search while neither can be searched', ['prj_a', 'prj_shared'], StoreUnavailable],
])('the ranking of a search of pages names %s', async (_, away, expected) => {
  const parts = partsWith(async (project) => {
    if (away.includes(project)) throw new StoreUnavailable('away')
    return []
  })
  const answer = searchPages(parts, { project: 'prj_a', query: 'harbour', limit: 5 })
  if (typeof expected === 'string') expect((await answer).searchEngine).toBe(expected)
  else await expect(answer).rejects.toBeInstanceOf(expected)
})

it('a search of pages says that one corpus has a defect, also while the other one is away', async () => {
  const parts = partsWith((project) =>
    Promise.reject(project === 'prj_a' ? new StoreUnavailable('away') : new Error('broken')),
  )
  const answer = searchPages(parts, { project: 'prj_a', query: 'harbour', limit: 5 })
  await expect(answer).rejects.toThrow('broken')
})

it('a search of pages answers without a corpus that does not answer, once the other has', async () => {
  const search = (project: string) =>
    project === 'prj_a' ? Promise.resolve([]) : Promise.withResolvers<readonly never[]>().promise
  const parts = partsWith(search, { after: (_, work) => systemClock.after(20, work) })
  const { searchEngine } = await searchPages(parts, { project: 'prj_a', query: 'harbour', limit: 5 })
  expect(searchEngine).toBe('troupe-web-2:lexical:project-only')
})

it.each([
  ['the embedder that read the query', [0.6, 0.8], 'troupe-web-2:hybrid+local/small'],
  ['no embedder when it cannot read the query', [0, 0], 'troupe-web-2:lexical'],
])('the ranking of a search of pages names %s', async (_, numbers, expected) => {
  const embedder: Embedder = { id: 'local/small', dimensions: 2, embed: async () => [new Float32Array(numbers)] }
  const found = { search: async () => [], rows: async () => new Map(), correct: async () => {} }
  const indexes = { ...found, hasRecent: () => false }
  const parts = {
    indexes,
    placed: new PlacedWork(systemClock),
    embedder,
    shared: null,
    now: () => 0,
    clock: systemClock,
  }
  const { searchEngine } = await searchPages(parts, { project: 'prj_a', query: 'harbour', limit: 5 })
  expect(searchEngine).toBe(expected)
})
