import { expect, it } from 'vitest'
import { searchPages } from '#actors/web/search/search-pages.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { systemClock } from '#runtime/clock.ts'
import { PlacedWork } from '#runtime/internal.ts'

it.each([
  ['the embedder that read the query', [0.6, 0.8], 'troupe-web-2:hybrid+local/small'],
  ['no embedder when it cannot read the query', [0, 0], 'troupe-web-2:lexical'],
])('the ranking of a search of pages names %s', async (_, numbers, expected) => {
  const embedder: Embedder = { id: 'local/small', dimensions: 2, embed: async () => [new Float32Array(numbers)] }
  const found = { search: async () => [], rows: async () => new Map(), correct: async () => {} }
  const indexes = { ...found, hasRecent: () => false }
  const parts = { indexes, placed: new PlacedWork(systemClock), embedder, shared: null, now: () => 0 }
  const { searchEngine } = await searchPages(parts, { project: 'prj_a', query: 'harbour', limit: 5 })
  expect(searchEngine).toBe(expected)
})
