import { describe, expect, it } from 'vitest'
import { RecordResource } from '#records/record-resource.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

type Thing = { readonly key: string; readonly name: string; readonly color: string | null }

const things: TypedKind<Thing> = { name: 'things', unique: [{ fields: ['key'] }], filters: ['color'] }
const scope = projectScope('prj_1')

const open = () => {
  const table = new Table(openMemoryStorage().records, things, Date.now)
  const resource = new RecordResource({
    table,
    idPrefix: 'thg',
    view: (row) => ({ id: row.id, ...row.data }),
    uniqueField: 'key',
  })
  const add = (key: string, color: string | null = null, project = 'prj_1') =>
    resource.create(projectScope(project), { id: newId('thg'), project, data: { key, name: key, color } })
  return { table, resource, add }
}

const names = (page: { readonly data: readonly Thing[] }) => page.data.map(({ name }) => name)

describe('a record resource', () => {
  it('lists pages newest first without gaps, and ends with a null cursor', async () => {
    const { resource, add } = open()
    for (const key of ['a', 'b', 'c', 'd', 'e']) await add(key)
    const first = await resource.list(scope, { limit: 2 })
    const second = await resource.list(scope, { limit: 2, cursor: first.next_cursor })
    const third = await resource.list(scope, { limit: 2, cursor: second.next_cursor })
    expect([names(first), names(second), names(third)]).toEqual([['e', 'd'], ['c', 'b'], ['a']])
    expect(third.next_cursor).toBeNull()
    expect((await resource.list(scope, { limit: 5 })).next_cursor).toBeNull()
  })

  it('neither repeats nor omits a row if others are added or removed between pages', async () => {
    const { resource, add } = open()
    for (const key of ['a', 'b', 'c']) await add(key)
    const first = await resource.list(scope, { limit: 1 })
    await add('d')
    await resource.remove(scope, first.data[0]?.id ?? '')
    expect(names(await resource.list(scope, { limit: 5, cursor: first.next_cursor }))).toEqual(['b', 'a'])
  })

  it.each([
    ['before', 'aaa'],
    ['after', 'zzz'],
  ])(
    'lists rows whose ids have the prefix of an earlier release last, if it sorts %s today’s',
    async (_where, older) => {
      const { table } = open()
      const view = (row: Row<Thing>) => ({ id: row.id, ...row.data })
      const resource = new RecordResource({ table, idPrefix: 'thg', olderIdPrefix: older, view })
      for (const [prefix, key] of [
        [older, 'a'],
        [older, 'b'],
        ['thg', 'c'],
        ['thg', 'd'],
      ] as const) {
        const data = { key, name: key, color: key === 'c' ? null : 'red' }
        await resource.create(scope, { id: newId(prefix), project: 'prj_1', data })
      }
      const pages = async (limit: number, cursor: string | null = null): Promise<readonly (readonly string[])[]> => {
        const page = await resource.list(scope, { limit, cursor })
        return [names(page), ...(page.next_cursor === null ? [] : await pages(limit, page.next_cursor))]
      }
      expect(await pages(10)).toEqual([['d', 'c', 'b', 'a']])
      for (const limit of [1, 2, 3]) expect((await pages(limit)).flat()).toEqual(['d', 'c', 'b', 'a'])
      expect(names(await resource.list(scope, { limit: 2, where: { color: 'red' } }))).toEqual(['d', 'b'])
      const [newest] = (await resource.list(scope, { limit: 1 })).data
      const ceiling = newest?.id ?? ''
      expect(names(await resource.list(scope, { limit: 5, ceiling }))).toEqual(['c', 'b', 'a'])
      expect(names(await resource.list(scope, { limit: 5, floor: ceiling }))).toEqual([])
    },
  )

  it('filters on a declared field', async () => {
    const { resource, add } = open()
    await add('a', 'red')
    await add('b', 'blue')
    expect(names(await resource.list(scope, { limit: 5, where: { color: 'red' } }))).toEqual(['a'])
  })

  it.each(['', 'x', 'thg_1', Buffer.from('agt_01kb0000000000000000000000').toString('base64url'), '%00'])(
    'refuses the cursor %j and names the parameter',
    async (cursor) => {
      await expect(open().resource.list(scope, { limit: 5, cursor })).rejects.toMatchObject({
        code: 'invalid_query',
        details: { param: 'cursor' },
      })
    },
  )

  it('shows, changes and removes nothing for another project or tenant', async () => {
    const { resource, add } = open()
    const { id } = await add('a')
    for (const foreign of [projectScope('prj_2'), tenantScope('prj_1', 'ten_1')]) {
      const missing = { code: 'not_found' }
      await expect(resource.get(foreign, id)).rejects.toMatchObject(missing)
      await expect(resource.remove(foreign, id)).rejects.toMatchObject(missing)
      await expect(resource.change(foreign, id, { edit: (row) => ({ ...row.data, name: 'x' }) })).rejects.toMatchObject(
        missing,
      )
      expect((await resource.list(foreign, { limit: 5 })).data).toEqual([])
    }
    expect(await resource.get(scope, id)).toMatchObject({ name: 'a' })
  })

  it('refuses a second row with the same unique key, in its project only', async () => {
    const { add } = open()
    await add('a')
    await expect(add('a')).rejects.toMatchObject({ code: 'already_exists', details: { param: 'key' } })
    await expect(add('a', null, 'prj_2')).resolves.toMatchObject({ key: 'a' })
  })

  it('returns its existing row if a create is repeated under the same id', async () => {
    const { resource } = open()
    const row = { id: newId('thg'), project: 'prj_1', data: { key: 'a', name: 'a', color: null } }
    expect(await resource.create(scope, row)).toEqual(await resource.create(scope, row))
  })

  it('creates one row for fifty concurrent upserts, which all return its id', async () => {
    const { table, resource } = open()
    const upserts = Array.from({ length: 50 }, (_, n) => {
      const data = { key: 'a', name: `name ${n}`, color: null }
      return resource.upsert(
        scope,
        { key: 'a' },
        { row: { id: newId('thg'), project: 'prj_1', data }, edit: () => data },
      )
    })
    const ids = new Set((await Promise.all(upserts)).map(({ id }) => id))
    expect(ids.size).toBe(1)
    expect(await table.count(scope)).toBe(1)
  })

  it('loses none of fifty concurrent changes', async () => {
    const { resource, add } = open()
    const { id } = await add('')
    const append = (row: { readonly data: Thing }) => ({ ...row.data, name: `${row.data.name}x` })
    await Promise.all(Array.from({ length: 50 }, () => resource.change(scope, id, { edit: append })))
    expect((await resource.get(scope, id)).name).toBe('x'.repeat(50))
  })

  it('does not write the row if there is nothing to change', async () => {
    const { table, resource, add } = open()
    const { id } = await add('a')
    await resource.change(scope, id, { edit: () => null })
    expect((await table.get(scope, id))?.version).toBe(1)
  })
})
