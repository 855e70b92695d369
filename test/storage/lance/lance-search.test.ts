import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables } from '#storage/lance/lance-tables.ts'
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

  const opened = async (name: string, from = packages) =>
    new LanceSearch(await LanceTables.at(from, join(folder, name)), 1, { unindexed: 0, recent: 10, part: 40 })
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
})
