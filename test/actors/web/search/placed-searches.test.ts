import { beforeAll, describe, expect, it } from 'vitest'
import { webKinds } from '#actors/web/kinds.ts'
import { corpusServer, corpusService } from '#actors/web/search/corpus-search.ts'
import { type PageSearch, searchPages } from '#actors/web/search/search-pages.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import { systemClock } from '#runtime/clock.ts'
import type { Storage } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { PlacedNodes } from '#test/support/placed-nodes.ts'
import { queries, urlOf } from '../store/made-pages.ts'
import { pageNode } from './page-node.ts'

const projects = Array.from({ length: 12 }, (_, n) => `prj_${n}`)
const text = queries[0]?.text ?? ''

/** Reads a query as the vector of pages. */
const embedder: Embedder = {
  ...{ id: 'test', dimensions: 8 },
  embed: async (texts) => texts.map(({ length }) => Float32Array.from({ length: 8 }, (_, at) => Math.cos(length + at))),
}

/** A node of several, or one that is alone. */
const searching = (storage: Storage, nodes = new PlacedNodes()) => {
  const node = pageNode(storage)
  const placed = nodes.join()
  placed.serve(corpusService, corpusServer(node.indexes))
  const parts = { indexes: node.indexes, placed, embedder, shared: 'prj_shared', now: () => 1e12, clock: systemClock }
  const search = async (project: string, more: Partial<PageSearch> = {}) =>
    (await searchPages(parts, { project, query: text, limit: 10, ...more })).results
  return { ...node, search }
}

describe('searches of pages on three nodes', () => {
  let storage: Storage
  beforeAll(async () => {
    storage = openMemoryStorage()
    await storage.records.prepare(webKinds)
    for (const [at, project] of [...projects, 'prj_shared'].entries())
      await pageNode(storage, { project }).save(Array.from({ length: 6 }, (_, n) => 100 * at + n))
  })

  it('find what a single node finds, whatever they are limited to, and hold each index once', async () => {
    const nodes = new PlacedNodes()
    const three = [searching(storage, nodes), searching(storage, nodes), searching(storage, nodes)]
    const alone = searching(storage)
    const limits = [{}, { explain: true }, { domain: 'h1.example' }, { language: 'en' }, { freshness: '1y' }]
    for (const project of projects)
      for (const limited of limits) {
        const expected = await alone.search(project, limited)
        for (const { search } of three) expect(await search(project, limited)).toEqual(expected)
      }
    expect((await alone.search('prj_1')).length).toBeGreaterThan(5)
    expect(nodes.forwarded).toBeGreaterThan(projects.length)
    const held = three.map(({ indexes }) => indexes.bytes)
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBe(alone.indexes.bytes)
    expect(Math.min(...held)).toBeGreaterThan(0)
  })

  it('find a page on the node that has stored it, at once', async () => {
    const nodes = new PlacedNodes()
    const three = [searching(storage, nodes), searching(storage, nodes), searching(storage, nodes)]
    for (const [at, { search }] of three.entries()) {
      const urls = async () => (await search('prj_a', { limit: 50 })).map(({ url }) => url)
      const url = urlOf(5_000 + at)
      expect(await urls()).not.toContain(url)
      await three[at]?.save([5_000 + at])
      expect(await urls()).toContain(url)
    }
  })
})
