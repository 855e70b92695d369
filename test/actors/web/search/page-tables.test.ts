import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { segmentFormat } from '#actors/indexing/stored-index.ts'
import { webKinds, webPages } from '#actors/web/kinds.ts'
import { acceptsOf } from '#actors/web/search/page-filter.ts'
import { PageTables } from '#actors/web/search/page-tables.ts'
import { findableRow } from '#actors/web/store/findable-row.ts'
import { pagesPlace } from '#actors/web/store/page-changes.ts'
import type { PageStore } from '#actors/web/store/page-store.ts'
import { type PageHit, PageIndex } from '#retrieval/index.ts'
import { newId } from '#runtime/ids.ts'
import { systemClock } from '#runtime/index.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { projectScope, type SearchStore, type Storage, wholeProjectScope } from '#storage/index.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { someOf } from '#test/setup/at-night.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { madePage, queries, urlOf } from '../store/made-pages.ts'
import { boundEngine, pageNode } from './page-node.ts'

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

describe('pages of a large corpus in LanceDB', () => {
  let packages: LancePackages
  let folder: string

  beforeAll(async () => {
    const require = await npmPackages('lancedb')
    packages = lanceOf(require)
    folder = mkdtempSync(join(tmpdir(), 'troupe-pages-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const engineOf = ({ search }: Storage): SearchStore => {
    if (search === undefined) throw new Error('no search')
    return search
  }
  const opened = async (name: string, base: Storage = openMemoryStorage({ now: Date.now })) => {
    const uri = join(folder, name)
    const storage = await withLance(base, { uri, min: 1 }, packages)
    await storage.records.prepare(webKinds)
    const project = newId('prj')
    const engine = engineOf(storage)
    return { storage, engine, project, uri, node: () => pageNode(storage, { engine, project }) }
  }
  const filters = [null, { host: 'h3.example', language: 'en' }, { since: 1 }]

  it('are found as in memory, with the same scores, also after changes, removals and merges by two nodes', async () => {
    const { storage, project, node } = await opened('same')
    const [one, other] = [node(), node()]
    for (const from of range(0, 5)) await one.save(range(6 * from, 6 * from + 6))
    await Promise.all([one.save(range(10, 20), 2), other.save(range(70, 80))])
    const removed = await other.store.find(project, urlOf(3))
    if (removed !== null) await other.store.remove(removed)
    await other.indexes.changed(project)
    // merges the segments of all pages, also of the removed one, but not that of its removal
    await one.save(range(80, 90))
    // so that no frequency counts what was removed
    await one.store.purge(project)
    await one.indexes.dropped(project)
    await one.indexes.changed(project)
    const memory = await inMemory(other.store, project)
    for (const filter of filters) {
      const accepts = filter === null ? null : acceptsOf(filter)
      const found = await other.found({ filter, accepts })
      for (const [at, query] of queries.entries())
        expectSame(found[at] ?? [], shown(await memory.search({ ...query, accepts })))
    }
    expect(other.counted.candidates).toBe(filters.length * queries.length)
    expect([...one.warnings, ...other.warnings]).toEqual([])
    await storage.close()
  })

  it('have the same first hits and scores when candidates are a fraction of the corpus', async () => {
    const { storage, engine, project, node } = await opened('some')
    const writer = node()
    await writer.save(range(0, 200))
    const tables = new PageTables({ engine, store: writer.store, clock: systemClock, candidates: 60 })
    const index = await inMemory(writer.store, project)
    for (const query of queries.filter(({ vector }) => vector === null)) {
      const all = await index.search(query)
      const found = (await tables.search(pagesPlace(project), { ...query, filter: null })) ?? []
      expectSame(shown(found).slice(0, 5), shown(all).slice(0, 5))
    }
    await storage.close()
  })

  it('are found by another process within two seconds, and each once with all that it acknowledged after kill -9', {
    timeout: 120_000,
  }, async () => {
    const [path, uri] = [join(folder, 'killed.db'), join(folder, 'killed')]
    const writer = join(import.meta.dirname, 'table-writer.ts')
    const child = spawn(process.execPath, [...fromKeptSources, writer, path, uri], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => Number((await lines.next()).value)
    await next()
    const storage = await withLance(openSqliteStorage({ path }), { uri, min: 1 }, packages)
    const engine = engineOf(storage)
    const reader = pageNode(storage, { engine })
    const urls = async () => {
      reader.ahead.ms += 1_000
      const query = { ...queries[0], text: 'near', vector: null, embedder: null, limit: 1_000, accepts: null }
      const filtered = { ...query, diverse: false, now: 1e12, filter: null }
      return (await reader.indexes.search('prj_a', filtered)).map(({ page }) => page.url)
    }
    await urls()
    const acknowledged = await next()
    const wanted = range(0, acknowledged).map(urlOf)
    await expect.poll(urls, { timeout: 30_000, interval: 100 }).toEqual(expect.arrayContaining(wanted))
    let last = acknowledged
    while (last < acknowledged + 12) last = await next()
    // it is storing the next pages
    child.kill('SIGKILL')
    await once(child, 'exit')
    const known = expect.arrayContaining(range(0, last).map(urlOf))
    await expect.poll(urls, { timeout: 30_000, interval: 100 }).toEqual(known)
    const found = await urls()
    expect(new Set(found).size).toBe(found.length)
    // announcements of the process have ended
    reader.ahead.ms += 61_000
    await urls()
    await reader.indexes.changed('prj_a')
    const all = await urls()
    const stored = await storage.records.count(webPages, projectScope('prj_a'))
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBe(stored)
    expect(reader.warnings).toEqual([])
    await storage.close()
  })

  it.each(
    someOf([
      ['all files', ''],
      ['files of rows', 'data'],
      ['files of indexes', '_indices'],
    ]),
  )('are found while %s of their table are lost, and are there again without a restart', async (_, part) => {
    const { storage, uri, node } = await opened(`lost${part}`)
    const [one, other] = [node(), node()]
    await one.save(range(0, 30))
    const before = await other.found()
    const tables = () => readdirSync(uri).filter((name) => name.startsWith('search.'))
    const made = tables()
    for (const name of tables()) rmSync(join(uri, name, part), { recursive: true })
    for (const [at, hits] of (await other.found()).entries()) expectSame(hits, before[at] ?? [])
    other.ahead.ms += 60_000
    const calls = other.counted.candidates
    await expect
      .poll(async () => {
        await other.found()
        return other.counted.candidates
      })
      .toBeGreaterThan(calls)
    expect(tables()).toEqual(made)
    for (const [at, hits] of (await other.found()).entries()) expectSame(hits, before[at] ?? [])
    await storage.close()
  })

  it('are stored and found while the folder cannot be written', async () => {
    const { storage, uri, node } = await opened('unwritable')
    const one = node()
    await one.save(range(0, 20))
    renameSync(uri, `${uri}.away`)
    writeFileSync(uri, '')
    await one.save(range(20, 40))
    const urls = new Set((await one.found()).flat().map(([url]) => url))
    expect([...urls].filter((url) => range(20, 40).map(urlOf).includes(url)).length).toBeGreaterThan(5)
    expect(one.warnings.length).toBeGreaterThan(0)
    rmSync(uri)
    renameSync(`${uri}.away`, uri)
    await storage.close()
  })

  it('leave no file with a word of them when they are taken down, and are not found in other projects', async () => {
    const { storage, engine, project, uri, node } = await opened('down')
    const one = node()
    await one.save(range(0, 30))
    const secret = { ...madePage(31), title: 'Xylophone', text: 'The zyzzyva of the quokka. '.repeat(20) }
    await one.store.save(project, urlOf(31), secret)
    await one.indexes.changed(project)
    const contents = () =>
      readdirSync(uri, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
        .join('\n')
    expect(contents()).toMatch(/zyzzyva|Xylophone/)
    const stranger = pageNode(storage, { engine, project: newId('prj') })
    await stranger.save([1])
    const text = 'zyzzyva quokka'
    expect((await one.found({ text })).flat().map(([url]) => url)).toContain(urlOf(31))
    expect((await stranger.found({ text })).flat().map(([url]) => url)).not.toContain(urlOf(31))
    await one.store.block(project, urlOf(31), 'wtd_1')
    await one.store.purge(project)
    await one.indexes.dropped(project)
    expect(contents()).not.toMatch(/zyzzyva|quokka|Xylophone/)
    await one.indexes.changed(project)
    const calls = one.counted.candidates
    expect((await one.found({ text })).flat().map(([url]) => url)).not.toContain(urlOf(31))
    expect(one.counted.candidates).toBe(calls + queries.length)
    expect(contents()).not.toMatch(/zyzzyva|quokka|Xylophone/)
    await storage.close()
  })

  it.each(['storing', 'correcting'])(
    'do not come back in files by a node that was %s them while they were taken down',
    async (doing) => {
      const { storage, engine, project, uri, node } = await opened(`back ${doing}`)
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let isSlow = doing === 'storing'
      const slowly =
        <T extends readonly unknown[]>(store: (...given: T) => Promise<void>) =>
        async (...given: T): Promise<void> => {
          if (isSlow) reached.resolve()
          if (isSlow) await released.promise
          await store(...given)
        }
      const put = slowly<Parameters<SearchStore['put']>>((...given) => engine.put(...given))
      const load = slowly<Parameters<SearchStore['load']>>((...given) => engine.load(...given))
      const [one, slow] = [node(), pageNode(storage, { engine: boundEngine(engine, { put, load }), project })]
      const secret = { ...madePage(31), title: 'Xylophone', text: 'The zyzzyva of the quokka. '.repeat(20) }
      const row = await slow.store.save(project, urlOf(31), secret)
      if (typeof row === 'string') throw new Error(row)
      const stored = slow.indexes.changed(project)
      if (!isSlow) await stored
      isSlow = true
      const corrected = doing === 'storing' ? stored : slow.indexes.correct(project, [row], [])
      await reached.promise
      await one.store.block(project, urlOf(31), 'wtd_1')
      await one.store.purge(project)
      await one.indexes.dropped(project)
      await one.indexes.changed(project)
      released.resolve()
      await corrected
      const files = readdirSync(uri, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      for (const { parentPath, name } of files)
        expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(/zyzzyva|quokka|Xylophone/)
      await storage.close()
    },
  )

  it('leave no table of a project that was deleted while a node was storing them', async () => {
    const { storage, engine, project, uri } = await opened('deleted')
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const load: SearchStore['load'] = async (...given) => {
      reached.resolve()
      await released.promise
      await engine.load(...given)
    }
    const slow = pageNode(storage, { engine: boundEngine(engine, { load }), project })
    const stored = slow.save(range(0, 10))
    await reached.promise
    for (const kind of webKinds) await storage.records.clear(kind, wholeProjectScope(project), 200)
    await engine.drop(project, null)
    released.resolve()
    await stored
    expect(readdirSync(uri).filter((name) => name.startsWith('search.'))).toEqual([])
    await storage.close()
  })

  it('have the summaries of all segments again after a slow node has removed those of a faster one', async () => {
    const { storage, engine, project, node } = await opened('notes')
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const note: SearchStore['note'] = async (...given) => {
      reached.resolve()
      await released.promise
      await engine.note(...given)
    }
    const [one, slow] = [node(), pageNode(storage, { engine: boundEngine(engine, { note }), project })]
    const late = slow.save(range(0, 10))
    await reached.promise
    await one.save(range(10, 20))
    released.resolve()
    await late
    const noted = async () => (await engine.notes(pagesIndex(project, { purges: 0 })))?.names.size
    const { segments = [] } = (await one.store.changes.state(pagesPlace(project))) ?? {}
    expect(await noted()).toBeLessThan(segments.length)
    one.ahead.ms += 1_000
    await one.found()
    one.ahead.ms += 5_000
    await one.found()
    await expect.poll(noted).toBe(segments.length)
    await storage.close()
  })

  it('are found and stored without waiting while the engine does not answer', async () => {
    const { storage, engine, project, node } = await opened('silent')
    await node().save(range(0, 20))
    const silent = () => new Promise<never>(() => {})
    const mute = boundEngine(engine, { candidates: silent, notes: silent, put: silent, drop: silent })
    const soon = (_: number, work: () => void) => systemClock.after(20, work)
    const waits = pageNode(storage, { engine: mute, project, after: soon })
    const before = await node().found()
    for (const [at, hits] of (await waits.found()).entries()) expectSame(hits, before[at] ?? [])
    expect(waits.warnings).toHaveLength(1)
    waits.ahead.ms += 60_000
    await waits.save(range(20, 30))
    expect((await waits.store.changes.state(pagesPlace(project)))?.revision).toBe(2)
    await storage.close()
  })

  it('are found by the engine again after it has never answered some requests, which no caller waits for', async () => {
    const { storage, engine, project, node } = await opened('again')
    await node().save(range(0, 20))
    let isSilent = true
    const silent =
      <A extends readonly unknown[], T>(call: (...given: A) => Promise<T>) =>
      (...given: A): Promise<T> =>
        isSilent ? new Promise<never>(() => {}) : call(...given)
    const mute = boundEngine(engine, {
      notes: silent((index) => engine.notes(index)),
      remove: silent((index, ids) => engine.remove(index, ids)),
      drop: silent((...given) => engine.drop(...given)),
    })
    const soon: typeof systemClock.after = (ms, work) => systemClock.after(isSilent ? 20 : ms, work)
    const waits = pageNode(storage, { engine: mute, project, after: soon })
    await waits.found()
    isSilent = false
    waits.ahead.ms += 60_000
    await waits.found()
    expect(waits.counted.candidates).toBe(queries.length)
    isSilent = true
    await waits.indexes.correct(project, [], ['wpg_1'])
    await expect(waits.indexes.dropped(project)).rejects.toThrow('the store does not get on')
    await storage.close()
  })
})

/** Where the engine has the pages of a project. */
const pagesIndex = (project: string, { purges }: { readonly purges: number }) => ({
  ...{ project, name: `${pagesPlace(project).id} ${purges} ${segmentFormat}`, dimensions: 8 },
})

/** An index in memory of all pages, in the order in which they were added: it decides between equal passages. */
const inMemory = async (store: PageStore, project: string): Promise<PageIndex> => {
  const index = new PageIndex()
  for await (const row of store.all(project)) index.add(findableRow(row))
  return index
}

const shown = (hits: readonly PageHit[]) => hits.map(({ page, score }) => [page.url, score] as const)

const expectSame = (
  found: readonly (readonly [string, number])[],
  expected: readonly (readonly [string, number])[],
): void => {
  expect(found.map(([url]) => url)).toEqual(expected.map(([url]) => url))
  for (const [at, [, score]] of found.entries()) expect(score).toBeCloseTo(expected[at]?.[1] ?? -1, 5)
}
