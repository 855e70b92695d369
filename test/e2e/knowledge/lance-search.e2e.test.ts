import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { vectorSpaceOf } from '#actors/knowledge/sources/stored-vectors.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { lanceOf } from '#storage/lance/lance-package.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { html, Site } from '#test/support/site.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'
import { answersOf, documentOf, embeds, filledBase, model, partsEach, sources } from './large-base.ts'

describe('a large knowledge base with LanceDB beside the embedded store', () => {
  let upstream: Upstream
  let site: Site
  let folder: string
  let world: World
  /** Reads the folder as another process would. */
  let stored: LanceVectors

  beforeAll(async () => {
    const require = await npmPackages('lancedb')
    upstream = await openUpstream()
    upstream.script(embeds)
    site = await Site.open({ '/': html(longPage) })
    folder = mkdtempSync(join(tmpdir(), 'troupe-lance-'))
    const packages = lanceOf(require)
    stored = await LanceVectors.open(packages, { uri: folder, min: 1 })
    world = await opened({
      ...{ LANCEDB_URI: folder, LANCEDB_MIN_CHUNKS: '60', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host },
      // where an operator has installed it
      NODE_PATH: require.resolve.paths('apache-arrow')?.[0] ?? '',
    })
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    await stored.close()
    await Promise.all([upstream.close(), site.close()])
    rmSync(folder, { recursive: true, force: true })
  })

  const opened = async (env: Readonly<Record<string, string>>): Promise<World> => {
    const made = await World.start({
      ownProcess: true,
      env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url, ...env },
    })
    const dashboard = await made.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    await embedded(dashboard, project.id)
    return made
  }
  const embedded = async (dashboard: Api, project: string): Promise<void> => {
    const change = { memory: { embedder: model } }
    expect((await dashboard.post(`/api/projects/${project}`, change, { method: 'PATCH' })).status).toBe(200)
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

  it('leaves no table of a project that is deleted, and those of others', { timeout: 240_000 }, async () => {
    const [dashboard, own] = [await world.dashboard(), await projectOf()]
    const { body: project } = await dashboard.post('/api/projects', { name: 'Doomed' })
    await embedded(dashboard, project.id)
    const { body: key } = await dashboard.post(`/api/projects/${project.id}/keys`, { name: 'server' })
    const filled = async (api: Api): Promise<KnowledgeBase> => {
      const base = await KnowledgeBase.create(api)
      await base.add({ text: documentOf(0), title: 'Record' })
      expect((await api.post('/api/v1/web/crawl', { seeds: [site.url('/')] })).body.indexed).toBe(1)
      return base
    }
    const [kept, doomed] = [await filled(world.api), await filled(world.as(key.key))]
    const kinds = async (id: string, base: KnowledgeBase) => {
      await base.search('harbour')
      const tables = readdirSync(folder).filter((name) => name.includes(`${id}.`))
      return tables.map((name) => name.split('.')[0]).toSorted()
    }
    for (const [id, base] of [
      [project.id, doomed],
      [own, kept],
    ] as const)
      await expect.poll(() => kinds(id, base), patience).toEqual(expect.arrayContaining([id, 'search']))
    const path = `/api/projects/${project.id}`
    expect((await dashboard.post(`${path}/delete`, { name: 'Doomed' })).status).toBe(202)
    await expect.poll(async () => (await dashboard.get(path)).status, patience).toBe(404)
    expect(readdirSync(folder).filter((name) => name.includes(project.id))).toEqual([])
    expect(await kinds(own, kept)).toEqual(expect.arrayContaining([own, 'search']))
    expect((await kept.search('harbour')).body.embedder).toBe(`model/${model}`)
  })
})

const sentence = (n: number): string => `The keeper of harbour ${n} writes down which ships arrive with the tide. `

/** A page with more passages than LanceDB has from. */
const longPage = `<!doctype html><html lang="en"><head><title>Harbours</title></head><body><main>${Array.from(
  { length: 80 },
  (_, n) => `<h2>Harbour ${n}</h2><p>${sentence(n).repeat(15)}</p>`,
).join('')}</main></body></html>`

/** Without ids, which two installations have of their own. */
const shownOf = (hits: readonly Record<string, unknown>[]) => hits.map(({ content, score }) => ({ content, score }))
