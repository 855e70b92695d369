import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { VectorSearchDeployment } from '#test/support/vector-search-deployment.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'
import { answersOf, documentOf, embeds, filledBase, model, partOf, partsEach, sources } from './large-base.ts'

interface Listed {
  readonly id: string
  readonly metadata: { readonly half?: number }
}

describe('a large knowledge base in a MongoDB deployment with vector search', () => {
  let deployment: VectorSearchDeployment
  let upstream: Upstream
  let world: World
  let base: KnowledgeBase

  beforeAll(async () => {
    deployment = await VectorSearchDeployment.open(process.env.MONGODB_URL ?? '')
    // searches are exact until the index is ready
    deployment.build(false)
    upstream = await openUpstream()
    upstream.script(embeds)
    const env = { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url, MONGODB_VECTOR_SEARCH_MIN_CHUNKS: '600' }
    world = await World.start({ store: 'mongo', mongodbUrl: deployment.url, env })
    const dashboard = await world.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    const change = { memory: { embedder: model } }
    expect((await dashboard.post(`/api/projects/${project.id}`, change, { method: 'PATCH' })).status).toBe(200)
    base = await filled()
  }, 240_000)
  beforeEach(() => {
    deployment.failure = null
    deployment.searches.length = 0
  })
  afterAll(async () => {
    await world.stop()
    await deployment.close()
    await upstream.close()
  })

  const filled = (): Promise<KnowledgeBase> => filledBase(world.api)
  const search = async (query: string, more: object = {}) =>
    (await base.as(world.api).search(query, { top_k: 20, threshold: 0, ...more })).body
  const storedVectors = async () => (await world.counts()).vectors ?? 0
  const searchedByDatabase = async () => {
    deployment.searches.length = 0
    await search('harbour')
    return deployment.searches.length > 0
  }
  /** The first search of a base that has become large requests the vectors of its first sources. */
  const storedAfterSearch = async (searched: KnowledgeBase) => {
    await searched.as(world.api).search('harbour')
    return storedVectors()
  }
  const untilStored = () => expect.poll(() => storedAfterSearch(base), patience).toBe(sources * partsEach)
  const untilSearched = () => expect.poll(searchedByDatabase, patience).toBe(true)

  it('has the same hits with the same scores as an exact search', { timeout: 240_000 }, async () => {
    await expect.poll(async () => (await search('harbour')).embedder, patience).toBe(`model/${model}`)
    await untilStored()
    expect(await searchedByDatabase()).toBe(false)
    const [exact, exactHalf] = [await answersOf(base), await answersOf(base, { filter: { half: 1 } })]

    deployment.build(true)
    await untilSearched()
    expect(await answersOf(base)).toEqual(exact)
    const listed = (await world.api.get(`${base.path}/sources`)).body.data
    const half = new Set(listed.flatMap(({ id, metadata }: Listed) => (metadata.half === 1 ? [id] : [])))
    deployment.searches.length = 0
    expect(await answersOf(base, { filter: { half: 1 } })).toEqual(exactHalf)
    for (const { filter } of deployment.searches) {
      expect(filter.$and).toEqual([
        { project: { $eq: expect.stringMatching(/^prj_/) } },
        { space: { $eq: `${base.id} model/${model}` } },
        { group: { $in: expect.toSatisfy((groups: readonly string[]) => groups.every((id) => half.has(id))) } },
      ])
    }
  })

  it('is searched by words while the database cannot search vectors, and answers say so', async () => {
    await untilSearched()
    deployment.failure = 'the search process is not running'
    const { data, embedder } = await search('harbour keeper in Bergen')
    expect(embedder).toBeNull()
    expect(data[0].content).toContain('harbour')
    deployment.failure = null
    expect((await search('harbour')).embedder).toBe(`model/${model}`)
  })

  it('keeps one vector for each chunk when a source changes, and none of a source or base that is deleted', {
    timeout: 240_000,
  }, async () => {
    await untilSearched()
    const own = await filled()
    await expect.poll(() => storedAfterSearch(own), patience).toBe(2 * sources * partsEach)
    const [{ id }] = (await world.api.get(`${own.path}/sources?limit=1`)).body.data
    const edited = [
      ...Array.from({ length: partsEach - 1 }, (_, n) => partOf(90, n)),
      '# New\n\nA new last part.',
    ].join('\n\n')
    await world.api.post(`${own.path}/sources/${id}/sync`, { text: edited })
    await expect
      .poll(async () => (await own.search('new last part', { threshold: 0 })).body.data[0]?.content, patience)
      .toContain('A new last part.')
    await expect.poll(storedVectors, patience).toBe(2 * sources * partsEach)
    expect((await world.api.post(`${own.path}/sources/${id}`, undefined, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(storedVectors, patience).toBe((2 * sources - 1) * partsEach)
    expect((await world.api.post(own.path, undefined, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(storedVectors, patience).toBe(sources * partsEach)
  })

  it('has every vector once after kill -9 while they are being stored', { timeout: 240_000 }, async () => {
    await untilSearched()
    const own = await KnowledgeBase.create(world.api)
    for (let source = 0; source < sources; source++)
      await world.api.post(`${own.path}/sources`, { text: documentOf(source + 10) })
    await expect.poll(storedVectors, { ...patience, interval: 1 }).toBeGreaterThan(sources * partsEach)
    await world.crash()
    await world.restart()
    await expect.poll(() => storedAfterSearch(own), patience).toBe(2 * sources * partsEach)
  })
})
