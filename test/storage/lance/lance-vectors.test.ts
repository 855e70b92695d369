import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables, tableName } from '#storage/lance/lance-tables.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { TableUpkeep } from '#storage/lance/table-upkeep.ts'
import { VectorRows } from '#storage/lance/vector-rows.ts'
import { type Storage, StoreUnavailable } from '#storage/ports.ts'
import { VectorsUnusable } from '#storage/search/vector-port.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { searchContract } from '../contract/search.ts'
import { vectorsContract } from '../contract/vectors.ts'
import { dyingPackages } from './dying-packages.ts'
import { dimensions, directions, project, put, sharedTables, space } from './shared-tables.ts'

describe('LanceDB in a folder', () => {
  let packages: LancePackages
  let folder: string
  let storage: Storage

  beforeAll(async () => {
    const require = await npmPackages('lancedb')
    packages = lanceOf(require)
    folder = mkdtempSync(join(tmpdir(), 'troupe-lance-'))
    storage = await withLance(openMemoryStorage({ now: Date.now }), { uri: folder, min: 10 }, packages)
  })
  afterAll(async () => {
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  })

  vectorsContract(async () => storage)
  // all that is noted is indexed
  searchContract(async () => new LanceSearch(await LanceTables.at(packages, folder), 1, { unindexed: 0 }))

  describe('with changes that move into parts', () => {
    const sizes = { unindexed: 0, recent: 0, part: 3 }
    searchContract(async () => new LanceSearch(await LanceTables.at(packages, join(folder, 'parts')), 1, sizes))
  })

  const another = () => LanceVectors.open(packages, { uri: folder, min: 10 })

  it.for([...(process.platform === 'linux' ? ['/proc/self'] : []), 'a file'] as const)(
    'ends a start in one sentence if it cannot be written: %s',
    async (named) => {
      const uri = named === 'a file' ? join(folder, 'file') : named
      if (named === 'a file') writeFileSync(uri, '')
      const opened = withLance(openMemoryStorage({ now: Date.now }), { uri, min: 10 }, packages)
      await expect(opened).rejects.toThrow(
        /^LANCEDB_URI must be a folder or a bucket that can be read and written: [^:\n]{1,60} \(os error \d+\)\.$/,
      )
      await expect(opened).rejects.toBeInstanceOf(VectorsUnusable)
    },
  )

  it('has no table after a start', async () => {
    const empty = join(folder, 'empty')
    await (await LanceVectors.open(packages, { uri: empty, min: 10 })).close()
    expect(readdirSync(empty).filter((name) => name.endsWith('.lance'))).toEqual([])
  })

  sharedTables(another)

  it.for([1, 2, 3])(
    'has vectors that one process stored after another, which stores the same, is killed at its change %s',
    async (changes) => {
      const living = await another()
      const [before, blob] = [`before ${changes}`, `killed ${changes}`]
      await put(living, before, directions(5))
      const dying = await LanceVectors.open(dyingPackages(packages, changes), { uri: folder, min: 10 })
      // from now on it does not see changes of others for a second
      await dying.count(project, before)
      await put(living, blob, directions(20))
      await put(dying, blob, directions(20)).catch(() => {})
      const reader = await another()
      const stored = await reader.get(
        project,
        space,
        Array.from({ length: 20 }, (_, n) => `${blob} ${n}`),
      )
      expect(new Set(stored.map(({ id }) => id)).size).toBe(20)
      await put(reader, blob, directions(20))
      expect(await reader.count(project, blob)).toBe(20)
      for (const each of [before, blob]) await reader.removeBlobs(project, each)
      await Promise.all([living.close(), dying.close(), reader.close()])
    },
  )

  it('has no document that one process removes right after another has stored it', async () => {
    const uri = join(folder, 'unseen')
    const place = { project, name: 'pages', dimensions: 2 }
    const open = async () => new LanceSearch(await LanceTables.at(packages, uri), 1)
    const passages = [{ words: ['tea'], numbers: null }]
    const put = (search: LanceSearch, id: string) =>
      search.put(place, 1, [{ id, version: 1, content: Buffer.from(id), facets: [], time: 1, passages }])
    const [one, other] = [await open(), await open()]
    await put(one, 'early')
    const count = async (search: LanceSearch) =>
      (await search.candidates(place, { words: ['tea'], vector: null, facets: [], since: null, limit: 5 })).length
    expect(await count(other)).toBe(1)
    await put(one, 'late')
    await other.remove(place, ['late'])
    expect(await count(await open())).toBe(1)
    await put(one, 'last')
    await other.remove(place, ['last'])
    expect(await count(await open())).toBe(1)
  })

  it('reports a search of an index of words that is lost to its caller alone', async () => {
    const uri = join(folder, 'wordless')
    const place = { project, name: 'pages', dimensions: 2 }
    const document = { id: 'one', version: 1, content: Buffer.from('one'), facets: [], time: 1 }
    const passages = [{ words: ['tea'], numbers: null }]
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    for (let n = 0; n < 5; n++) {
      const open = async () => new LanceSearch(await LanceTables.at(packages, uri), 1)
      await (await open()).put(place, 1, [{ ...document, passages }])
      for (const name of readdirSync(uri)) rmSync(join(uri, name, '_indices'), { recursive: true, force: true })
      const query = { words: ['tea'], vector: null, facets: [], since: null, limit: 5 }
      await expect((await open()).candidates(place, query)).rejects.toBeInstanceOf(StoreUnavailable)
    }
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it.each([
    ['removed', false],
    ['removed and made anew', true],
  ])('has vectors that a process stores in a table that another has just %s', async (_, isMade) => {
    const uri = mkdtempSync(join(folder, 'shared-'))
    const open = () => LanceVectors.open(packages, { uri, min: 10 })
    const [one, other] = [await open(), await open()]
    for (const blob of ['first', 'second', 'third']) await put(other, blob, directions(5))
    await one.removeProject(project)
    if (isMade) await put(one, 'new', directions(5))
    await put(other, 'last', directions(5))
    for (const each of [other, await open()]) {
      const counts = { last: 5, ...(isMade && { new: 5 }) }
      expect(Object.fromEntries((await each.space(project, space)).counts)).toEqual(counts)
      expect(await each.get(project, space, ['last 0', 'first 0'])).toHaveLength(1)
      await each.close()
    }
    await one.close()
  })

  it('has vectors that are stored in a table that has lost a file', async () => {
    const uri = mkdtempSync(join(folder, 'broken-'))
    const vectors = await LanceVectors.open(packages, { uri, min: 10 })
    await put(vectors, 'first', directions(5))
    for (const name of readdirSync(uri)) rmSync(join(uri, name, 'data'), { recursive: true, force: true })
    await put(vectors, 'last', directions(5))
    expect([...(await vectors.space(project, space)).counts]).toEqual([['last', 5]])
    await vectors.close()
  })

  it('has vectors that another process stores while this one finds their table empty', async () => {
    const uri = mkdtempSync(join(folder, 'emptied-'))
    const tables = await LanceTables.at(packages, uri)
    const [one, other] = [new LanceVectors(tables, 10), await LanceVectors.open(packages, { uri, min: 10 })]
    await put(one, 'first', directions(5))
    await one.removeBlobs(project, 'first')
    expect(await one.count(project, 'first')).toBe(0)
    await put(other, 'second', directions(5))
    const [open, drop] = [(name: string) => tables.open(name), (name: string) => tables.drop(name)]
    const upkeep = new TableUpkeep({ lance: packages.lance, open, drop, versionMs: 600_000, indexedFrom: 1_000 })
    upkeep.changed(tableName(project, space))
    await upkeep.settled()
    const reader = await LanceVectors.open(packages, { uri, min: 10 })
    expect(await reader.count(project, 'second')).toBe(5)
    await Promise.all([upkeep.close(), one.close(), other.close(), reader.close()])
  })

  /** A process that waits before it removes copies. */
  const slowProcess = async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const removing = dyingPackages(packages, Number.POSITIVE_INFINITY, async (name) => {
      if (name !== 'delete') return
      reached.resolve()
      await released.promise
    })
    const vectors = await LanceVectors.open(removing, { uri: folder, min: 10 })
    return { vectors, reached: reached.promise, release: released.resolve }
  }

  it('has vectors that processes store again while another has yet to remove its copy', async () => {
    const fast = await another()
    // which copy is kept is by chance
    for (let n = 0; n < 12; n++) {
      const blob = `slow ${n}`
      await put(fast, blob, directions(5))
      const slow = await slowProcess()
      const stored = put(slow.vectors, blob, directions(5))
      await slow.reached
      await put(fast, blob, directions(5))
      slow.release()
      await stored
      await slow.vectors.close()
      const reader = await another()
      expect(await reader.count(project, blob)).toBe(5)
      await reader.removeBlobs(project, blob)
      await reader.close()
    }
    await fast.close()
  })

  it('has vectors that an earlier release, which keeps only its own, stores again meanwhile', async () => {
    const session = new packages.lance.Session(64n << 20n, 16n << 20n)
    const db = await packages.lance.connect(folder, { readConsistencyInterval: 0 }, session)
    const { schema, ...rows } = await earlierRows('earlier')
    const table = await db.createEmptyTable(tableName(project, space), schema, { existOk: true })
    await table.add(rows.encoded)
    const slow = await slowProcess()
    const stored = put(slow.vectors, 'earlier', directions(5))
    await slow.reached
    await table.delete("key LIKE 'earlier:%'")
    await table.add(rows.encoded)
    slow.release()
    await stored
    const reader = await another()
    expect(await reader.count(project, 'earlier')).toBe(5)
    await reader.removeBlobs(project, 'earlier')
    await Promise.all([slow.vectors.close(), reader.close()])
    db.close()
  })

  const earlierRows = async (blob: string) => {
    const rows = new VectorRows(packages.arrow, dimensions)
    const all = directions(5).map((numbers, n) => ({ key: `${blob}:${n}`, group: blob, id: `${blob} ${n}`, numbers }))
    return { schema: rows.schema, encoded: await rows.encoded(all) }
  }

  it('finds nearly all of the nearest of 8,000 with an index, and what was removed leaves the files', {
    timeout: 240_000,
  }, async () => {
    const vectors = await another()
    const all = directions(8_000)
    for (let from = 0; from < all.length; from += 1_000)
      await put(vectors, `part ${from}`, all.slice(from, from + 1_000))
    const db = await packages.lance.connect(
      folder,
      { readConsistencyInterval: 0 },
      new packages.lance.Session(64n << 20n, 16n << 20n),
    )
    const [name = ''] = (await db.tableNames({ limit: 1_000 })).filter((each) => each.startsWith(`${project}.`))
    const upkeep = new TableUpkeep({
      lance: packages.lance,
      open: (each) => db.openTable(each),
      drop: (each) => db.dropTable(each),
      versionMs: 0,
      indexedFrom: 1_000,
    })
    upkeep.changed(name)
    await upkeep.settled()
    const table = await db.openTable(name)
    expect((await table.listIndices()).flatMap(({ columns }) => columns).toSorted()).toEqual(['id', 'key', 'vector'])
    // this upkeep keeps no earlier version, which a process reads for a second
    await vectors.close()
    const reader = await another()
    const near = async (wanted: Int8Array) => {
      const vector = Float32Array.from(wanted, (number, at) => number + ((at * 7) % 41) - 20)
      return (await reader.nearest({ project, space, groups: null, vector, limit: 10 }))[0]?.numbers
    }
    const wanted = Array.from({ length: 40 }, (_, n) => all[n * 200] ?? new Int8Array())
    const found = await Promise.all(wanted.map(near))
    expect(found.filter((numbers, n) => numbers?.join() === wanted[n]?.join()).length).toBeGreaterThan(36)
    const tend = async () => {
      upkeep.changed(name)
      await upkeep.settled()
      // the upkeep of the last change removes what the last one but one replaced
      upkeep.changed(name)
      await upkeep.settled()
    }
    const stored = join(folder, `${name}.lance`, 'data')
    expect(bytesIn(stored)).toBeGreaterThan(8_000 * dimensions * 4)
    for (let from = 1_000; from < 8_000; from += 1_000) await reader.removeBlobs(project, `part ${from}`)
    await reader.close()
    await tend()
    expect(bytesIn(stored)).toBeLessThan(1_500 * dimensions * 4)
    const last = await another()
    await last.removeBlobs(project, 'part ')
    await tend()
    expect(readdirSync(folder)).not.toContain(`${name}.lance`)
    await Promise.all([upkeep.close(), last.close()])
    db.close()
  })
})

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
