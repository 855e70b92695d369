import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { webBlockedUrls, webCorpora, webKinds, webPages } from '#actors/web/kinds.ts'
import { PageIndexes } from '#actors/web/search/page-indexes.ts'
import { findableRow } from '#actors/web/store/findable-row.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { boundRecords } from '#records/bound-records.ts'
import { PageIndex } from '#retrieval/index.ts'
import { systemClock } from '#runtime/clock.ts'
import { newId } from '#runtime/ids.ts'
import { type BlobStore, projectScope, type Storage, StoreUnavailable } from '#storage/index.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { madePage, queries, urlOf } from './made-pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-segments-'))
const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `segments_${randomBytes(6).toString('hex')}`

const stores: readonly (readonly [string, () => Storage | Promise<Storage>])[] = [
  ['memory', () => openMemoryStorage()],
  ['sqlite', () => openSqliteStorage({ path: join(folder, 'segments.db') })],
  ['mongo', () => openPatientMongo({ url, database })],
]

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

/** Blobs that count what is read and written, and fail while `isBroken`. */
class CountedBlobs implements BlobStore {
  written = 0
  read = 0
  readonly #blobs: BlobStore

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  put(project: string, hash: string, content: string | Uint8Array): Promise<void> {
    this.written += content.length
    return this.#blobs.put(project, hash, content)
  }

  get = (project: string, hash: string) => this.#blobs.get(project, hash)

  async bytes(project: string, hash: string): Promise<Uint8Array | null> {
    const content = await this.#blobs.bytes(project, hash)
    this.read += content?.length ?? 0
    return content
  }

  hashes = (project: string, after: string | null, limit: number) => this.#blobs.hashes(project, after, limit)
  remove = (project: string, prefix: string) => this.#blobs.remove(project, prefix)
}

/** A process that stores and searches pages of one project. */
const processOn = (storage: Storage, project: string, now = Date.now) => {
  const blobs = new CountedBlobs(storage.blobs)
  const store = new PageStore(storage.records, blobs, { now })
  const clock = { ...systemClock, now, steady: () => performance.now(), soon: systemClock.soon }
  const indexes = new PageIndexes({ store, clock })
  const save = async (numbers: readonly number[], version = 1) => {
    for (const n of numbers) {
      const row = await store.save(project, urlOf(n), madePage(n, version))
      if (typeof row === 'string') throw new Error(row)
    }
    await store.changed(project)
  }
  const found = async (index: PageIndex) => {
    const all = []
    for (const query of queries)
      all.push((await index.search(query)).map(({ page, score, signals }) => ({ id: page.id, score, signals })))
    return all
  }
  /**
   * What an index finds that is made in the process from all pages: in the same order, which decides between passages and
   * words of equal weight.
   */
  const expected = async () => {
    const index = new PageIndex()
    const ids = [...(await indexes.of(project)).ids]
    const rows = await store.getMany(project, ids)
    for (const id of ids) {
      const row = rows.get(id)
      if (row !== undefined) index.add(findableRow(row))
    }
    return found(index)
  }
  return { blobs, store, save, expected, found: async () => found(await indexes.of(project)), indexes }
}

const byId = (all: readonly (readonly { readonly id: string; readonly score: number }[])[]) =>
  all.map((hits) => new Map(hits.map((hit) => [hit.id, hit])))

const segmentsOf = async ({ records }: Storage, project: string) => {
  const row = await records.get(webCorpora, projectScope(project), `wco_${project.slice(4)}`)
  const segments = row?.data.segments
  return Array.isArray(segments) ? segments : []
}

describe.each(drawnOf(stores, stores.length))('the index of pages in the segments of %s', (_, open) => {
  const opened = async () => {
    const storage = await open()
    await storage.records.prepare(webKinds)
    return { storage, project: newId('prj') }
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (__, n) => from + n)

  it('finds what an index in the process finds, with the same scores, after changes, removals and merges by two processes', async () => {
    const { storage, project } = await opened()
    const [one, other] = [processOn(storage, project), processOn(storage, project)]
    const batches = (node: typeof one, from: number) =>
      range(0, 9).reduce(
        (before, n) => before.then(() => node.save(range(from + 4 * n, from + 4 * n + 4))),
        Promise.resolve(),
      )
    await Promise.all([batches(one, 0), batches(other, 60)])
    expect((await one.indexes.of(project)).size).toBe(72)
    await Promise.all([one.save(range(10, 20), 2), other.save(range(70, 75), 3)])
    for (const n of [3, 65]) {
      const row = await other.store.find(project, urlOf(n))
      if (row !== null) await other.store.remove(row)
    }
    await other.store.changed(project)
    expect((await segmentsOf(storage, project)).length).toBeLessThan(20)
    expect((await processOn(storage, project).indexes.of(project)).size).toBe(70)
    await one.store.purge(project)
    const started = processOn(storage, project)
    const [found, expected] = [await started.found(), await started.expected()]
    expect((await started.indexes.of(project)).size).toBe(70)
    for (const [at, hits] of byId(found).entries()) {
      const own = byId(expected)[at]
      expect([...hits.keys()].toSorted()).toEqual([...(own?.keys() ?? [])].toSorted())
      for (const [id, { score }] of hits) expect(score).toBeCloseTo(own?.get(id)?.score ?? -1, 6)
    }
    await storage.close()
  })

  it('reads and writes for a change what the change has, not the corpus', async () => {
    const { storage, project } = await opened()
    const [writer, reader] = [processOn(storage, project), processOn(storage, project)]
    await writer.save(range(0, 60))
    await reader.indexes.of(project)
    const whole = reader.blobs.read
    const [written, read] = [writer.blobs.written, reader.blobs.read]
    await writer.save([60, 61])
    const later = new PageIndexes({ store: reader.store, clock: systemClock })
    expect((await later.of(project)).size).toBe(62)
    expect(writer.blobs.written - written).toBeLessThan(whole / 10)
    expect(reader.blobs.read - read).toBeLessThan(whole * 1.1)
    await storage.close()
  })

  it('misses no page whose change failed after it was stored, and leaves no announcement of a change that was none', async () => {
    const { storage, project } = await opened()
    const node = processOn(storage, project)
    await node.save([0])
    let isFailing = false
    const find: typeof storage.records.find = (kind, ...rest) => {
      if (isFailing && kind === webBlockedUrls) throw new StoreUnavailable('cut')
      return storage.records.find(kind, ...rest)
    }
    const failing = new PageStore({ ...boundRecords(storage.records), find }, storage.blobs, { now: Date.now })
    isFailing = true
    await expect(failing.save(project, urlOf(1), madePage(1))).rejects.toThrow(StoreUnavailable)
    isFailing = false
    await failing.save(project, urlOf(2), madePage(2))
    await failing.changed(project)
    await node.store.block(project, urlOf(9), 'wtd_1')
    const later = processOn(storage, project, () => Date.now() + 61_000)
    expect((await later.indexes.of(project)).size).toBe(3)
    const row = await storage.records.get(webCorpora, projectScope(project), `wco_${project.slice(4)}`)
    expect(row?.data.changing).toEqual({})
    await storage.close()
  })

  it('has nothing of a page that was taken down, at once', async () => {
    const { storage, project } = await opened()
    const node = processOn(storage, project)
    await node.save(range(0, 30))
    const secret = { ...madePage(31), title: 'Xylophone', text: 'The zyzzyva of the quokka. '.repeat(20) }
    await node.store.save(project, urlOf(31), secret)
    await node.store.changed(project)
    const stored = async () => {
      const contents: string[] = []
      for (const name of await storage.blobs.hashes(project, null, 1_000))
        contents.push(Buffer.from((await storage.blobs.bytes(project, name)) ?? []).toString('latin1'))
      return contents.join('\n')
    }
    expect(await stored()).toMatch(/zyzzyva[\s\S]*Xylophone|Xylophone[\s\S]*zyzzyva/)
    expect(await node.store.block(project, urlOf(31), 'wtd_1')).toBe(true)
    await node.store.purge(project)
    expect(await stored()).not.toMatch(/zyzzyva|quokka|Xylophone/)
    expect((await processOn(storage, project).indexes.of(project)).size).toBe(30)
    await storage.close()
  })

  it('is whole again after a process died between its pages and their segment, or a segment was lost', async () => {
    const { storage, project } = await opened()
    await processOn(storage, project).save(range(0, 20))
    const dying = processOn(storage, project)
    await dying.store.save(project, urlOf(20), madePage(20))
    await dying.store.save(project, urlOf(5), madePage(5, 2))
    expect((await processOn(storage, project).indexes.of(project)).size).toBe(20)
    const later = processOn(storage, project, () => Date.now() + 61_000)
    expect((await later.indexes.of(project)).size).toBe(21)
    const before = later.blobs.written
    expect((await processOn(storage, project, () => Date.now() + 122_000).indexes.of(project)).size).toBe(21)
    expect(later.blobs.written).toBe(before)
    const [lost] = await storage.blobs.hashes(project, null, 1)
    await storage.blobs.remove(project, lost ?? '')
    for (const again of [processOn(storage, project), processOn(storage, project)])
      expect((await again.indexes.of(project)).size).toBe(21)
    await storage.close()
  })
})

it('the index of pages of a process that is killed while it writes has all pages that it acknowledged, and soon all that it stored', async () => {
  const path = join(folder, 'killed.db')
  const child = spawn(process.execPath, [...fromKeptSources, join(import.meta.dirname, 'page-writer.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let acknowledged = 0
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line)
    if (acknowledged >= 60) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const storage = openSqliteStorage({ path })
  await storage.records.prepare(webKinds)
  const index = await processOn(storage, 'prj_a').indexes.of('prj_a')
  expect(index.size).toBeGreaterThanOrEqual(acknowledged)
  const later = processOn(storage, 'prj_a', () => Date.now() + 61_000)
  expect((await later.indexes.of('prj_a')).size).toBe(await storage.records.count(webPages, projectScope('prj_a')))
  await later.store.purge('prj_a')
  const merged = processOn(storage, 'prj_a')
  expect(byId(await merged.found())).toEqual(byId(await merged.expected()))
  await storage.close()
})
