import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { vectorSpaceOf } from '#actors/knowledge/sources/stored-vectors.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { lanceOf } from '#storage/lance/lance-package.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import type { KnowledgeBase } from './knowledge-world.ts'
import { answersOf, embeds, filledBase, model, partsEach, sources } from './large-base.ts'

describe('a large knowledge base with LanceDB beside the embedded store', () => {
  let upstream: Upstream
  let folder: string
  let world: World
  /** Reads the folder as another process would. */
  let stored: LanceVectors

  beforeAll(async () => {
    const require = await npmPackages('lancedb')
    upstream = await openUpstream()
    upstream.script(embeds)
    folder = mkdtempSync(join(tmpdir(), 'troupe-lance-'))
    const packages = lanceOf(require)
    stored = await LanceVectors.open(packages, { uri: folder, min: 1 })
    world = await opened({
      ...{ LANCEDB_URI: folder, LANCEDB_MIN_CHUNKS: '600' },
      // where an operator has installed it
      NODE_PATH: require.resolve.paths('apache-arrow')?.[0] ?? '',
    })
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    await stored.close()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const opened = async (env: Readonly<Record<string, string>>): Promise<World> => {
    const made = await World.start({
      ownProcess: true,
      env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url, ...env },
    })
    const dashboard = await made.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    const change = { memory: { embedder: model } }
    expect((await dashboard.post(`/api/projects/${project.id}`, change, { method: 'PATCH' })).status).toBe(200)
    return made
  }
  const projectOf = async () => (await (await world.dashboard()).get('/api/projects')).body.data[0].id
  const countOf = async ({ id }: KnowledgeBase) => {
    const { counts } = await stored.space(await projectOf(), vectorSpaceOf(id, `model/${model}`))
    return [...counts.values()].reduce((sum, count) => sum + count, 0)
  }
  const storedAfterSearch = async (base: KnowledgeBase) => {
    await base.as(world.api).search('harbour')
    return countOf(base)
  }

  it('has the same hits with the same scores as an exact search', { timeout: 240_000 }, async () => {
    const plain = await opened({})
    const exact = await filledBase(plain.api)
    const searched = await filledBase(world.api)
    await expect.poll(() => storedAfterSearch(searched), patience).toBe(sources * partsEach)
    for (const filter of [{}, { filter: { half: 1 } }])
      expect((await answersOf(searched, filter)).map(shownOf)).toEqual((await answersOf(exact, filter)).map(shownOf))
    await plain.stop()
    // while its files are away, it is searched by words: nothing of it was searched in the process
    const tables = readdirSync(folder).filter((name) => name.endsWith('.lance'))
    for (const name of tables) renameSync(join(folder, name, 'data'), join(folder, name, 'away'))
    expect((await searched.search('harbour')).body.embedder).toBeNull()
    for (const name of tables) renameSync(join(folder, name, 'away'), join(folder, name, 'data'))
    expect((await searched.search('harbour')).body.embedder).toBe(`model/${model}`)
  })

  it('has every vector once after kill -9 while they are being stored, and none after its deletion', {
    timeout: 240_000,
  }, async () => {
    const base = await filledBase(world.api)
    await base.search('harbour')
    await expect.poll(() => countOf(base), { ...patience, interval: 1 }).toBeGreaterThan(0)
    await world.crash()
    await world.restart()
    await expect.poll(() => storedAfterSearch(base), patience).toBe(sources * partsEach)
    expect((await base.as(world.api).search('harbour keeper')).body.data[0].content).toContain('harbour')
    expect((await world.api.post(base.path, undefined, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => countOf(base), patience).toBe(0)
  })
})

/** Without ids, which two installations have of their own. */
const shownOf = (hits: readonly Record<string, unknown>[]) => hits.map(({ content, score }) => ({ content, score }))
