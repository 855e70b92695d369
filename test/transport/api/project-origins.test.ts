import { describe, expect, it } from 'vitest'
import { projects } from '#actors/accounts/kinds.ts'
import { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { Table } from '#records/table.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { projectOrigins } from '#transport/api/credentials/project-origins.ts'

const open = async (lists: Readonly<Record<string, readonly string[]>>) => {
  const { records } = openMemoryStorage()
  const box = { seal: (text: string) => text, open: (sealed: string) => sealed }
  const directory = new ProjectDirectory({ records, box, now: Date.now })
  const table = new Table(records, projects, Date.now)
  for (const [id, origins] of Object.entries(lists))
    await table.insert({ id, project: 'org_1', data: directory.newData(id, id, origins) })
  return projectOrigins(directory)
}

describe('the allowed origins of a project', () => {
  it('are exactly those that it lists', async () => {
    const origins = await open({ prj_1: ['https://app.example.org'], prj_2: [] })
    expect(await origins.allows('https://app.example.org', 'prj_1')).toBe(true)
    for (const other of ['https://app.example.org:444', 'http://app.example.org', 'https://example.org', 'null', ''])
      expect(await origins.allows(other, 'prj_1')).toBe(false)
    expect(await origins.allows('https://app.example.org', 'prj_2')).toBe(false)
    expect(await origins.allows('https://app.example.org', 'prj_unknown')).toBe(false)
  })

  it('are all origins if the project lists *', async () => {
    const origins = await open({ prj_1: ['*'] })
    expect(await origins.allows('https://anything.example', 'prj_1')).toBe(true)
  })

  it('are checked without a promise once they are known', async () => {
    const origins = await open({ prj_1: ['*'] })
    await origins.allows('https://a.example', 'prj_1')
    expect(origins.allows('https://a.example', 'prj_1')).toBe(true)
  })
})
