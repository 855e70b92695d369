import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables, tableName } from '#storage/lance/lance-tables.ts'
import { SearchRows } from '#storage/lance/search-rows.ts'
import type { SearchDocument } from '#storage/search/search-port.ts'
import { dyingPackages } from './dying-packages.ts'

const index = { project: 'prj_a', name: 'pages', dimensions: 0 }

const documentOf = (n: number, version: number): SearchDocument => ({
  ...{ id: `p${n}`, version, facets: [], time: null, content: Buffer.from(`${n} ${version}`) },
  passages: Array.from({ length: 1 + ((n + version) % 3) }, (_, at) => ({
    ...{ words: ['all', `v${version}`, `n${n}`, `at${at}`], numbers: null },
  })),
})

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

describe('documents of a large index in LanceDB', () => {
  let packages: LancePackages
  let folder: string
  beforeAll(async () => {
    packages = lanceOf(await npmPackages('lancedb'))
    folder = mkdtempSync(join(tmpdir(), 'troupe-search-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const opened = async (name: string, from = packages, sizes = {}) =>
    new LanceSearch(await LanceTables.at(from, join(folder, name)), 1, { unindexed: 0, recent: 10, part: 40, ...sizes })
  const found = async (search: LanceSearch, word = 'all') => {
    const query = { words: [word], vector: null, facets: [], since: null, limit: 10_000 }
    const all = await search.candidates(index, query)
    return all.map(({ content }) => Buffer.from(content).toString()).toSorted()
  }
  const parts = (name: string) => readdirSync(join(folder, name)).filter((table) => table.includes('.part-')).length

  it('move into parts when many have changed, each found once in its newest version', async () => {
    const search = await opened('moved')
    await search.load(
      index,
      range(0, 30).map((n) => documentOf(n, 1)),
    )
    await search.note(index, { step: 1, added: new Map(), kept: [] })
    for (const step of range(2, 6)) {
      const changed = range(10 * step, 10 * step + 15).map((n) => documentOf(n, step))
      await search.put(index, step, changed)
      await search.remove(index, [`p${step}`])
      await search.note(index, { step, added: new Map(), kept: [] })
      await search.merge(index)
    }
    const newest = (n: number) => Math.max(1, ...range(2, 6).filter((step) => n >= 10 * step && n < 10 * step + 15))
    const all = range(0, 65).filter((n) => !range(2, 6).includes(n))
    const wanted = all.map((n) => `${n} ${newest(n)}`).toSorted()
    expect(await found(search)).toEqual(wanted)
    expect(parts('moved')).toBeGreaterThan(1)
    expect(await found(await opened('moved'))).toEqual(wanted)
  })

  it.each(range(0, 9))('are all found after a process is killed that moves them, at its change %s', async (changes) => {
    const name = `killed ${changes}`
    const search = await opened(name)
    await search.load(
      index,
      range(0, 20).map((n) => documentOf(n, 1)),
    )
    await search.note(index, { step: 1, added: new Map(), kept: [] })
    await search.put(
      index,
      2,
      range(10, 30).map((n) => documentOf(n, 2)),
    )
    const dying = await opened(name, dyingPackages(packages, changes))
    const noted = dying.note(index, { step: 2, added: new Map(), kept: [] })
    await noted.then(() => dying.merge(index)).catch(() => {})
    const wanted = range(0, 30)
      .map((n) => `${n} ${n < 10 ? 1 : 2}`)
      .toSorted()
    const reader = await opened(name)
    expect(await found(reader)).toEqual(wanted)
    await reader.put(
      index,
      3,
      range(30, 45).map((n) => documentOf(n, 3)),
    )
    await reader.note(index, { step: 3, added: new Map(), kept: [] })
    await reader.merge(index)
    expect(await found(reader)).toEqual([...wanted, ...range(30, 45).map((n) => `${n} 3`)].toSorted())
  })

  it.each(range(0, 6))('have all first notes or none after a process is killed, at its change %s', async (changes) => {
    const name = `noting ${changes}`
    const search = await opened(name)
    await search.load(index, [documentOf(0, 1)])
    const added = new Map(['one', 'two', 'three'].map((each) => [each, Uint8Array.of(1)]))
    const dying = await opened(name, dyingPackages(packages, changes))
    await dying.note(index, { step: 1, added, kept: [], isNew: true }).catch(() => {})
    const reader = await opened(name)
    expect([undefined, 3]).toContain((await reader.notes(index))?.names.size)
    await reader.note(index, { step: 2, added, kept: [] })
    expect(await reader.notes(index)).toEqual({ step: 2, names: new Set(added.keys()) })
  })

  const noted = async (search: LanceSearch, step: number) => {
    await search.note(index, { step, added: new Map(), kept: [] })
  }
  /** Twenty documents in a part, of which ten have changed, and a merge that is held before it copies those. */
  const merging = async (name: string, held = 'add') => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isHeld = false
    const before = async (method: string) => {
      if (!isHeld || method !== held) return
      reached.resolve()
      await released.promise
    }
    const search = await opened(name, dyingPackages(packages, Number.POSITIVE_INFINITY, before))
    await search.load(
      index,
      range(0, 20).map((n) => documentOf(n, 1)),
    )
    await noted(search, 1)
    await search.put(
      index,
      2,
      range(5, 20).map((n) => documentOf(n, 5)),
    )
    await noted(search, 2)
    isHeld = true
    const merged = search.merge(index)
    await reached.promise
    isHeld = false
    return { search, merged, release: released.resolve }
  }

  it('are merged again where many change during a merge', async () => {
    const { search, merged, release } = await merging('again')
    await search.put(
      index,
      3,
      range(20, 40).map((n) => documentOf(n, 1)),
    )
    await noted(search, 3)
    const again = search.merge(index)
    release()
    await Promise.all([merged, again])
    expect(await search.hasMany(index)).toBe(false)
    expect(await found(search)).toHaveLength(40)
  })

  it('are removed at once while a part is indexed, and stay so', async () => {
    const { search, merged, release } = await merging('indexed', 'optimize')
    await search.remove(index, ['p1', 'p7'])
    const left = range(0, 20).filter((n) => n !== 1 && n !== 7)
    expect(await found(search)).toHaveLength(left.length)
    release()
    await merged
    const wanted = left.map((n) => `${n} ${n < 5 ? 1 : 5}`).toSorted()
    expect(await found(search)).toEqual(wanted)
    expect(await found(await opened('indexed'))).toEqual(wanted)
  })

  it('are of the version by which they were replaced during a merge, although it is an earlier one', async () => {
    const { search, merged, release } = await merging('earlier version')
    await search.remove(index, ['p7'])
    await search.put(index, 3, [documentOf(7, 3)])
    release()
    await merged
    expect(await found(search, 'n7')).toEqual(['7 3'])
  })

  it('leave no file with a word of them when they are erased during a merge', async () => {
    const { search, merged, release } = await merging('erased')
    await search.put(index, 3, [
      { ...documentOf(7, 6), passages: [{ words: ['all', 'zyzzyva'], numbers: null }] },
      documentOf(50, 1),
    ])
    const erased = search.erase(index, ['p7'])
    release()
    await Promise.all([merged, erased])
    const files = readdirSync(join(folder, 'erased'), { recursive: true, withFileTypes: true })
    for (const { parentPath, name } of files.filter((entry) => entry.isFile()))
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(/zyzzyva|n7 /)
    expect(await found(search)).toHaveLength(20)
  })

  it('are all found by a process that sees what has left the changes before it sees the part that it is in', async () => {
    const [writer, reader] = [await opened('seen'), await opened('seen')]
    await writer.load(
      index,
      range(0, 20).map((n) => documentOf(n, 1)),
    )
    await noted(writer, 1)
    await writer.put(
      index,
      2,
      range(10, 30).map((n) => documentOf(n, 2)),
    )
    await noted(writer, 2)
    expect(await found(reader)).toHaveLength(30)
    await writer.merge(index)
    // it reads the changes anew before it makes one of its own
    await reader.put(index, 3, [documentOf(30, 1)])
    expect(await found(reader)).toEqual([...range(0, 31).map((n) => `${n} ${n < 10 || n === 30 ? 1 : 2}`)].toSorted())
  })

  it('are candidates beside however many that had the words of the query before they changed', async () => {
    const search = await opened('stale', packages, { recent: 1_000, part: 1_000 })
    const of = (n: number, version: number, ...words: string[]): SearchDocument => ({
      ...{ id: `p${n}`, version, facets: [], time: null, content: Buffer.from(`${n} ${version}`) },
      passages: [{ words, numbers: null }],
    })
    const others = range(0, 20).map((n) => `other${n}`)
    const loaded = range(0, 300).map((n) => (n < 280 ? of(n, 1, 'timeout') : of(n, 1, 'timeout', ...others)))
    await search.load(index, loaded)
    await noted(search, 1)
    const changed = range(0, 280).map((n) => of(n, 2, 'kubernetes'))
    await search.put(index, 2, changed)
    await noted(search, 2)
    const query = { words: ['timeout'], vector: null, facets: [], since: null, limit: 20 }
    const ids = (await search.candidates(index, query)).map(({ id }) => id)
    expect(ids.toSorted()).toEqual(range(280, 300).map((n) => `p${n}`))
  })

  it('are candidates in each table, since a word that is rare in one may be in all documents of another', async () => {
    const search = await opened('skewed', packages, { recent: 1_000, part: 1_000 })
    const of = (id: string, step: number, ...words: string[]): SearchDocument => ({
      ...{ id, version: step, facets: [], time: null, content: Buffer.from(id), passages: [{ words, numbers: null }] },
    })
    const loaded = range(0, 400).map((n) => of(`part${n}`, 1, n < 40 ? 'timeout' : 'other', `n${n}`))
    await search.load(index, loaded)
    await search.note(index, { step: 1, added: new Map(), kept: [] })
    const site = range(0, 60).map((n) => of(`site${n}`, 2, 'kubernetes', n < 30 ? 'timeout' : 'other'))
    await search.put(index, 2, site)
    await search.note(index, { step: 2, added: new Map(), kept: [] })
    const query = { words: ['kubernetes', 'timeout'], vector: null, facets: [], since: null, limit: 20 }
    const ids = (await search.candidates(index, query)).map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('site'))).toHaveLength(20)
    expect(ids.filter((id) => id.startsWith('part'))).toHaveLength(20)
  })

  it('are a bounded number of those that are not in the index of words yet', async () => {
    const search = await opened('unnoted', packages, { unindexed: 5, recent: 1_000 })
    await search.load(index, [documentOf(0, 1)])
    await search.note(index, { step: 1, added: new Map(), kept: [] })
    await search.put(
      index,
      2,
      range(1, 90).map((n) => documentOf(n, 2)),
    )
    expect((await found(search, 'none')).length).toBeLessThanOrEqual(20)
  })

  it('leave tables of an earlier release alone, which leaves theirs alone, until something is erased', async () => {
    const tables = await LanceTables.at(packages, join(folder, 'earlier'))
    const search = new LanceSearch(tables, 1)
    const { schema } = new SearchRows(packages.arrow, 0)
    const earlier = `search.${tableName('prj_a', 'pages 0')}`
    for (const erase of [() => search.erase(index, ['p0']), () => search.drop('prj_a', null)]) {
      await tables.create(earlier, schema)
      await search.load(index, [documentOf(0, 1)])
      await search.note(index, { step: 1, added: new Map(), kept: [] })
      await search.drop('prj_a', index)
      // it removes all of these but its own
      expect(await tables.names('search.prj_a.')).toEqual([earlier])
      await erase()
      expect(await tables.names('search.prj_a.')).toEqual([])
    }
  })
})
