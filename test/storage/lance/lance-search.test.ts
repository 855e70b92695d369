import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
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
    }
    const newest = (n: number) => Math.max(1, ...range(2, 6).filter((step) => n >= 10 * step && n < 10 * step + 15))
    const all = range(0, 65).filter((n) => !range(2, 6).includes(n))
    const wanted = all.map((n) => `${n} ${newest(n)}`).toSorted()
    expect(await found(search)).toEqual(wanted)
    await expect.poll(() => parts('moved'), { timeout: 20_000 }).toBeGreaterThan(1)
    expect(await found(search)).toEqual(wanted)
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
    await dying.note(index, { step: 2, added: new Map(), kept: [] }).catch(() => {})
    await dying.erase(index, []).catch(() => {})
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
    expect(await found(reader)).toEqual([...wanted, ...range(30, 45).map((n) => `${n} 3`)].toSorted())
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
