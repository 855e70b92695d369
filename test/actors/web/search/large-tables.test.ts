import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IndexState } from '#actors/indexing/stored-index.ts'
import { webCorpora, webKinds } from '#actors/web/kinds.ts'
import { isJoined } from '#actors/web/search/joined-notes.ts'
import { findableRow } from '#actors/web/store/findable-row.ts'
import { storeLatePages } from '#actors/web/store/late-pages.ts'
import { pagesPlace } from '#actors/web/store/page-changes.ts'
import { Table } from '#records/table.ts'
import { PageIndex } from '#retrieval/index.ts'
import { newId } from '#runtime/ids.ts'
import { type Clock, systemClock } from '#runtime/index.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { projectScope, type SearchStore, type Storage, StoreUnavailable } from '#storage/index.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { madePage, queries, urlOf } from '../store/made-pages.ts'
import { boundEngine, pageNode } from './page-node.ts'

const contentsOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

const largeIndex = (project: string) => ({ project, name: `${pagesPlace(project).id} large 3`, dimensions: 8 })

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

describe('pages of a corpus that is too large for memory', () => {
  let packages: LancePackages
  let folder: string
  beforeAll(async () => {
    packages = lanceOf(await npmPackages('lancedb'))
    folder = mkdtempSync(join(tmpdir(), 'troupe-large-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const engineOf = ({ search }: Storage): SearchStore => {
    if (search === undefined) throw new Error('no search')
    return search
  }
  const opened = async (name: string, { min = 1, inMemory = 20, joinedFrom = 30, joinedBytes = 1e6 } = {}) => {
    const uri = join(folder, name)
    const storage = await withLance(openMemoryStorage({ now: Date.now }), { uri, min }, packages)
    await storage.records.prepare(webKinds)
    const project = newId('prj')
    const engine = engineOf(storage)
    const sizes = { inMemory, joinedFrom, joinedBytes }
    const node = (bound = engine) => pageNode(storage, { engine: bound, project, sizes })
    return { storage, engine, project, uri, node }
  }
  type Node = ReturnType<typeof pageNode>
  const stateOf = ({ store }: Node, project: string) => store.changes.state(pagesPlace(project))
  const joinedIn = async (engine: SearchStore, project: string) => {
    const { names } = (await engine.notes(largeIndex(project))) ?? { names: new Set<string>() }
    return [...names].filter(isJoined).toSorted()
  }
  const urls = async (node: Node) => new Set((await node.found({ limit: 1_000 })).flat().map(([url]) => url))

  it.each([
    { joinedBytes: 1e6, notes: 1 },
    { joinedBytes: 1, notes: 6 },
  ])('are found as in memory, with the same scores, by summaries of most segments in $notes notes', async (each) => {
    const { storage, engine, project, node } = await opened(`same ${each.notes}`, each)
    const writer = node()
    for (const from of range(0, 6)) await writer.save(range(20 * from, 20 * from + 20))
    const reader = node()
    const index = new PageIndex()
    for await (const row of writer.store.all(project)) index.add(findableRow(row))
    for (const [at, hits] of (await reader.found()).entries()) {
      const query = queries[at]
      const expected = query === undefined ? [] : await index.search(query)
      expect(hits.map(([url]) => url)).toEqual(expected.map(({ page }) => page.url))
      for (const [n, [, score]] of hits.entries()) expect(score).toBeCloseTo(expected[n]?.score ?? -1, 5)
    }
    expect(reader.counted.candidates).toBe(queries.length)
    expect(await stateOf(writer, project)).toMatchObject({ large: true })
    expect(await joinedIn(engine, project)).toHaveLength(each.notes)
    await storage.close()
  })

  it('keep the summaries of other segments when one of them is written anew', async () => {
    const { storage, engine, project, node } = await opened('kept', { joinedBytes: 1 })
    const writer = node()
    for (const from of range(0, 6)) await writer.save(range(20 * from, 20 * from + 20))
    const before = await joinedIn(engine, project)
    await writer.store.block(project, urlOf(1), 'wtd_1')
    await writer.store.purge(project)
    await writer.indexes.dropped(project)
    await expect.poll(async () => (await stateOf(writer, project))?.erasing, { timeout: 20_000 }).toBeUndefined()
    const after = await joinedIn(engine, project)
    expect(after.filter((name) => before.includes(name)).length).toBeGreaterThan(0)
    expect(after.filter((name) => !before.includes(name)).length).toBeGreaterThan(0)
    await storage.close()
  })

  it('are compared with what a process had changed that was killed before it noted it, without reading the others', async () => {
    const { storage, engine, project, node } = await opened('killed')
    const [writer, reader] = [node(), node()]
    await writer.save(range(0, 40))
    await reader.found()
    const killed = node()
    for (const n of range(40, 44)) await killed.store.save(project, urlOf(n), madePage(n))
    await killed.store.save(project, urlOf(5), madePage(5, 2))
    const removed = await killed.store.find(project, urlOf(7))
    if (removed !== null) await killed.store.remove(removed)
    expect(await urls(reader)).not.toContain(urlOf(41))
    const read: (string | undefined)[] = []
    const { all } = reader.store
    reader.store.all = (of, changedBy) => {
      read.push(changedBy)
      return all.call(reader.store, of, changedBy)
    }
    reader.ahead.ms += 61_000
    await reader.found()
    reader.ahead.ms += 5_000
    await reader.found()
    await expect.poll(async () => (await stateOf(reader, project))?.changing, { timeout: 20_000 }).toEqual({})
    await expect.poll(async () => [...(await urls(reader))], { timeout: 20_000 }).toContain(urlOf(41))
    expect(read).toHaveLength(1)
    expect(read[0]).toMatch(/^wcm_/)
    const found = await urls(reader)
    for (const n of [...range(40, 44), 5]) expect(found).toContain(urlOf(n))
    expect(found).not.toContain(urlOf(7))
    const state = await stateOf(reader, project)
    expect(state?.removing).toBeUndefined()
    const index = largeIndex(project)
    const query = { words: [], vector: new Float32Array(8).fill(1), facets: [], since: null, limit: 1_000 }
    expect((await engine.candidates(index, query)).map(({ id }) => id)).not.toContain(removed?.id)
    await storage.close()
  })

  it('are stored by one process, however long the engine takes for some', async () => {
    const { storage, engine, project, node } = await opened('slow')
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const load: SearchStore['load'] = async (...given) => {
      reached.resolve()
      await released.promise
      await engine.load(...given)
    }
    const after: Clock['after'] = (ms, work) => systemClock.after(ms / 1_000, work)
    const slow = pageNode(storage, { engine: boundEngine(engine, { load }), project, after })
    const stored = slow.save(range(0, 40))
    await reached.promise
    const other = node()
    for (const each of [slow, other]) each.ahead.ms += 61_000
    const madeAt = async () => (await stateOf(other, project))?.making?.at
    await expect.poll(madeAt).toBeGreaterThan(Date.now() + 50_000)
    expect(await other.store.changes.claim(pagesPlace(project))).toBe(false)
    released.resolve()
    await stored
    await expect.poll(madeAt).toBeUndefined()
    await storage.close()
  })

  it('are tried again once after many changes while another process merges them', async () => {
    const { storage, engine, project, node } = await opened('merged elsewhere')
    await node().save(range(0, 40))
    const later: number[] = []
    const after: Clock['after'] = (ms, work) => {
      if (ms === 5_000) later.push(ms)
      return systemClock.after(ms, work)
    }
    let counts = 0
    const hasMany: SearchStore['hasMany'] = async () => ++counts > 0
    const busy = pageNode(storage, { engine: boundEngine(engine, { hasMany }), project, after })
    expect(await node().store.changes.claim(pagesPlace(project))).toBe(true)
    for (const n of range(40, 44)) await busy.save([n])
    await expect.poll(() => counts).toBe(4)
    await busy.store.changes.state(pagesPlace(project))
    expect(later).toHaveLength(1)
    await storage.close()
  })

  it.each(['removed', 'removed and made'])(
    'are not noted as stored where all tables were %s while some of them were stored',
    async (what) => {
      const { storage, engine, project, node } = await opened(`lost ${what}`)
      await node().save(range(0, 40))
      let isLost = false
      const put: SearchStore['put'] = async (index, ...given) => {
        await engine.put(index, ...given)
        if (isLost) return
        isLost = true
        await engine.drop(project, null)
        if (what === 'removed and made') await engine.load(index, given[1])
      }
      const writer = node(boundEngine(engine, { put }))
      await writer.save(range(40, 45))
      expect(writer.warnings).toHaveLength(1)
      await node().save(range(45, 46))
      expect((await urls(node())).size).toBe(46)
      await storage.close()
    },
  )

  it('leave no file with a word of them when they are taken down, while the others are found', async () => {
    const { storage, project, uri, node } = await opened('down')
    const one = node()
    await one.save(range(0, 40))
    const secret = { ...madePage(50), title: 'Xylophone', text: 'The zyzzyva of the quokka. '.repeat(20) }
    await one.store.save(project, urlOf(50), secret)
    await one.indexes.changed(project)
    const contents = () => contentsOf(uri)
    expect(contents()).toMatch(/zyzzyva|Xylophone/)
    const others = [...(await urls(one))].filter((url) => url !== urlOf(50)).toSorted()
    await one.store.block(project, urlOf(50), 'wtd_1')
    await one.store.purge(project)
    const dropped = one.indexes.dropped(project)
    expect([...(await urls(one))]).toEqual(expect.arrayContaining(others))
    await dropped
    expect(contents()).not.toMatch(/zyzzyva|quokka|Xylophone/)
    expect((await stateOf(one, project))?.erasing).toBeUndefined()
    expect([...(await urls(one))].toSorted()).toEqual(others)
    await storage.close()
  })

  it('leave no file with a word of them when they are taken down while another process merges changes, and then one erases', async () => {
    const { storage, engine, project, uri, node } = await opened('merged')
    const after: Clock['after'] = (ms, work) => systemClock.after(ms === 5_000 ? 100 : ms, work)
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const merge: SearchStore['merge'] = async (index) => {
      reached.resolve()
      await released.promise
      await engine.merge(index)
    }
    const merging = node(boundEngine(engine, { hasMany: async () => true, merge }))
    let erasures = 0
    const erase: SearchStore['erase'] = async (...given) => {
      erasures++
      await engine.erase(...given)
    }
    const sizes = { inMemory: 20, joinedFrom: 30 }
    const others = [1, 2, 3].map(() =>
      pageNode(storage, { engine: boundEngine(engine, { erase }), project, after, sizes }),
    )
    const [one = merging] = others
    const secret = { ...madePage(50), title: 'Xylophone', text: 'The zyzzyva of the quokka. '.repeat(20) }
    await one.save(range(0, 40))
    await one.store.save(project, urlOf(50), secret)
    await one.indexes.changed(project)
    await merging.save(range(40, 42))
    await reached.promise
    await one.store.block(project, urlOf(50), 'wtd_1')
    await one.store.purge(project)
    await one.indexes.dropped(project)
    const index = largeIndex(project)
    const query = { words: [], vector: new Float32Array(8).fill(1), facets: [], since: null, limit: 1_000 }
    expect(await engine.candidates(index, query)).toHaveLength(42)
    for (const other of others) {
      await other.found()
      other.ahead.ms += 5_000
      await other.found()
    }
    expect(erasures).toBe(0)
    released.resolve()
    const erasing = async () => (await stateOf(one, project))?.erasing
    await expect.poll(erasing, { timeout: 20_000 }).toBeUndefined()
    expect(contentsOf(uri)).not.toMatch(/zyzzyva|quokka|Xylophone/)
    expect(erasures).toBe(1)
    await storage.close()
  })

  it('have one copy in segments that two processes make anew at once', async () => {
    const { storage, project, node } = await opened('anew')
    const [one, other] = [node(), node()]
    await one.save(range(0, 40))
    const place = pagesPlace(project)
    const states = new Table(storage.records, webCorpora, Date.now)
    const edit = ({ data }: { readonly data: IndexState }): IndexState => ({
      ...data,
      segments: (data.segments ?? []).map((ref) => ({ ...ref, format: 1 })),
    })
    await states.change(projectScope(project), place.id, { edit })
    const state = await stateOf(one, project)
    if (state === null) throw new Error('no state')
    await Promise.all([one, other].map(({ store }) => storeLatePages(store, place, { state, now: Date.now() })))
    const { segments = [] } = (await stateOf(one, project)) ?? {}
    expect(segments.reduce((sum, { documents }) => sum + documents, 0)).toBe(40)
    await storage.close()
  })

  it('are reported as unavailable while the engine is, and are not read into memory', async () => {
    const { storage, engine, project, node } = await opened('away')
    await node().save(range(0, 40))
    const failing = async () => Promise.reject(new StoreUnavailable('away'))
    const cut = node(boundEngine(engine, { notes: failing, candidates: failing }))
    await expect(cut.found()).rejects.toBeInstanceOf(StoreUnavailable)
    expect(cut.indexes.bytes).toBe(0)
    expect((await stateOf(cut, project))?.large).toBe(true)
    await storage.close()
  })

  it('are in the engine by the number of their passages, of which replaced ones are none', async () => {
    const { storage, node } = await opened('live', { min: 100, inMemory: 1_000 })
    const one = node()
    for (const version of range(1, 5)) await one.save(range(0, 20), version)
    await one.found()
    expect(one.counted.candidates).toBe(0)
    await one.save(range(20, 40))
    await one.found()
    expect(one.counted.candidates).toBe(queries.length)
    await storage.close()
  })
})
