import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import type { LancePackages } from '#storage/lance/lance-package.ts'
import { LanceVectors } from '#storage/lance/lance-vectors.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { TableUpkeep } from '#storage/lance/table-upkeep.ts'
import type { Storage } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { vectorsContract } from '../contract/vectors.ts'

const dimensions = 32
const space = 'base model'
const project = 'prj_many'

/** Directions that are the same in every run. */
const directions = (count: number, from = 1): readonly Int8Array[] => {
  let state = from
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * 255)
  }
  return Array.from({ length: count }, () => Int8Array.from({ length: dimensions }, () => next() - 127))
}

describe('LanceDB in a folder', () => {
  let packages: LancePackages
  let folder: string
  let storage: Storage

  beforeAll(async () => {
    const require = await npmPackages('lancedb')
    packages = { lance: require('@lancedb/lancedb'), arrow: require('apache-arrow') }
    folder = mkdtempSync(join(tmpdir(), 'troupe-lance-'))
    storage = await withLance(openMemoryStorage({ now: Date.now }), { uri: folder, min: 10 }, packages)
  })
  afterAll(async () => {
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  })

  vectorsContract(async () => storage)

  const put = (vectors: LanceVectors, blob: string, numbers: readonly Int8Array[], group = blob) =>
    vectors.put({
      ...{ project, space, blob, group },
      vectors: numbers.map((each, n) => ({ id: `${blob} ${n}`, numbers: each })),
    })
  const another = () => LanceVectors.open(packages, { uri: folder, min: 10 })

  it('is seen by every process that opens the folder', async () => {
    const [one, other] = await Promise.all([another(), another()])
    await put(one, 'first', directions(10))
    expect(await other.count(project, 'first')).toBe(10)
    await put(other, 'second', directions(5, 2))
    await expect.poll(async () => (await one.space(project, space)).counts.get('second')).toBe(5)
    await other.removeBlobs(project, 'first')
    await other.removeBlobs(project, 'second')
    await expect.poll(async () => (await one.space(project, space)).counts.size).toBe(0)
    await Promise.all([one.close(), other.close()])
  })

  it('puts the vectors of many blobs at the same time, each once', async () => {
    const [one, other] = await Promise.all([another(), another()])
    const blobs = Array.from({ length: 12 }, (_, n) => `blob ${n}`)
    await Promise.all(blobs.flatMap((blob, n) => [one, other].map((each) => put(each, blob, directions(20, n + 1)))))
    for (const each of [one, other]) {
      await expect
        .poll(async () => [...(await each.space(project, space)).counts.values()])
        .toEqual(blobs.map(() => 20))
    }
    for (const blob of blobs) await one.removeBlobs(project, blob)
    await Promise.all([one.close(), other.close()])
  })

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
