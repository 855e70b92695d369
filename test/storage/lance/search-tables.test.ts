import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { LanceSearch } from '#storage/lance/lance-search.ts'
import { LanceTables } from '#storage/lance/lance-tables.ts'
import { SearchTables } from '#storage/lance/search-tables.ts'

const index = { project: 'prj_a', name: 'pages', dimensions: 0 }
const document = {
  ...{ id: 'p1', version: 1, facets: [], time: null, content: Buffer.from('1') },
  passages: [{ words: ['all'], numbers: null }],
}

describe('tables of LanceDB that another process changes', () => {
  let packages: LancePackages
  let folder: string
  beforeAll(async () => {
    packages = lanceOf(await npmPackages('lancedb'))
    folder = mkdtempSync(join(tmpdir(), 'troupe-tables-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const opened = async (name: string) => {
    const [own, others] = [
      await LanceTables.at(packages, join(folder, name)),
      await LanceTables.at(packages, join(folder, name)),
    ]
    const other = new LanceSearch(others, 1)
    await other.load(index, [document])
    await other.note(index, { step: 1, added: new Map(), kept: [] })
    const parts = () => readdirSync(join(folder, name)).filter((table) => table.includes('.part-')).length
    return { tables: new SearchTables(own), other, parts }
  }

  it('are read again, and not removed, where it removes the files of one version after the other', async () => {
    const { tables, other, parts } = await opened('erased')
    let reads = 0
    const read = await tables.read(index, 'part-0', async (table) => {
      // the files of the version that is open are gone then
      if (++reads <= 3) await other.erase(index, [])
      const rows = await table.query().select(['content']).toArrow()
      if (reads <= 3) throw new Error('a file of version was not found')
      return rows.numRows
    })
    expect(read).toBeGreaterThan(0)
    expect(parts()).toBe(1)
  })

  it('are removed, to be made again, where the latest version lacks a file', async () => {
    const { tables, parts } = await opened('lost')
    const [table = ''] = readdirSync(join(folder, 'lost')).filter((name) => name.includes('.part-'))
    rmSync(join(folder, 'lost', table, 'data'), { recursive: true })
    const read = tables.read(index, 'part-0', (each) => each.query().select(['content']).toArrow())
    await expect(read).rejects.toThrow(/not found/i)
    expect(parts()).toBe(0)
  })
})
