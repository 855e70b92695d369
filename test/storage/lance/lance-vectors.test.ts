import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables } from '#storage/lance/lance-tables.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { TableUpkeep } from '#storage/lance/table-upkeep.ts'
import type { Storage } from '#storage/ports.ts'
import { VectorsUnusable } from '#storage/vector-port.ts'
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
  searchContract(async () => new LanceSearch(await LanceTables.at(packages, folder), 1, 0))

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
