import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StoredRecord } from '#storage/ports.ts'
import { covers, projectScope, tenantScope, userScope } from '#storage/scope.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Subject } from '../contract.ts'
import { gadgets, recordOf, widgets } from '../samples.ts'

const idsOf = (records: readonly StoredRecord[]): readonly string[] => records.map(({ id }) => id)

/** Contract of lists, their paging and counts. Each test uses its own project. */
export const listContract = ({ store, fresh }: Subject): void => {
  const seed = async (project: string, count: number, data: (i: number) => StoredRecord['data'] = () => ({})) => {
    const records = Array.from({ length: count }, (_, i) => recordOf(fresh('wid'), { project, data: data(i) }))
    for (const record of records) await store().records.insert(widgets, record)
    return idsOf(records)
  }

  it('lists newest first, or oldest first on request', async () => {
    const project = fresh('prj')
    const ids = await seed(project, 5)
    const list = (ascending: boolean) => store().records.list(widgets, projectScope(project), { limit: 10, ascending })
    expect(idsOf(await list(true))).toEqual(ids)
    expect(idsOf(await list(false))).toEqual(ids.toReversed())
  })

  it('pages by number', async () => {
    const project = fresh('prj')
    const ids = (await seed(project, 7)).toReversed()
    const page = (skip: number) => store().records.list(widgets, projectScope(project), { limit: 3, skip })
    expect([await page(0), await page(3), await page(6), await page(9)].map(idsOf)).toEqual([
      ids.slice(0, 3),
      ids.slice(3, 6),
      ids.slice(6),
      [],
    ])
  })

  it('returns every existing record once, even if others are inserted and removed between pages', async () => {
    for (const ascending of [false, true]) {
      const project = fresh('prj')
      const scope = projectScope(project)
      const before = await seed(project, 10)
      const seen: string[] = []
      for (;;) {
        const after = seen.at(-1)
        const query = after === undefined ? { limit: 3, ascending } : { limit: 3, ascending, after }
        const page = idsOf(await store().records.list(widgets, scope, query))
        if (page.length === 0) break
        seen.push(...page)
        if (seen.length > 20) break
        if (seen.length < 10) await seed(project, 1)
        await store().records.remove(widgets, scope, page.at(-1) ?? '')
      }
      expect(seen.slice(0, 10)).toEqual(ascending ? before : before.toReversed())
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  it('filters by equality for every scalar type, and by null for a missing field', async () => {
    const project = fresh('prj')
    const scope = projectScope(project)
    const values = ['active', 'paused', 'active', 1, true, null]
    const ids = await seed(project, 7, (i) => (i < 6 ? { status: values[i] ?? null, weight: i % 2 } : {}))
    const where = async (condition: { readonly [field: string]: string | number | boolean | null }) => {
      const query = { where: condition, limit: 10, ascending: true }
      return idsOf(await store().records.list(widgets, scope, query)).map((id) => ids.indexOf(id))
    }
    expect(await where({ status: 'active' })).toEqual([0, 2])
    expect(await where({ status: 1 })).toEqual([3])
    expect(await where({ status: '1' })).toEqual([])
    expect(await where({ status: true })).toEqual([4])
    expect(await where({ status: null })).toEqual([5, 6])
    expect(await where({ status: 'active', weight: 0 })).toEqual([0, 2])
    expect(await where({ status: 'paused', weight: 0 })).toEqual([])
    expect(await store().records.count(widgets, scope, { status: 'active' })).toBe(2)
    expect(await store().records.count(widgets, scope)).toBe(7)
  })

  it('filters by several fields at once, in every scope', async () => {
    const project = fresh('prj')
    const owners = [
      [null, null],
      ['ten_1', null],
      ['ten_1', 'u'],
      ['ten_2', 'u'],
    ] as const
    const rows = Array.from({ length: 16 }, (_, i) => {
      const [tenant, user] = owners[i % 4] ?? [null, null]
      const data = { status: i < 8 ? 'on' : 'off', weight: i % 3, place: `p${i % 2}` }
      return recordOf(fresh('wid'), { project, tenant, user, data })
    })
    for (const row of rows) await store().records.insert(widgets, row)
    const scopes = [projectScope(project), tenantScope(project, 'ten_1'), userScope(project, 'ten_1', 'u')]
    const wheres = [
      {},
      { status: 'on' },
      { weight: 1, status: 'off' },
      { place: 'p0', weight: 2 },
      { place: 'p1', status: 'on' },
      { place: null, status: 'on' },
    ]
    for (const scope of scopes) {
      for (const where of wheres) {
        const filters: StoredRecord['data'] = where
        const expected = rows
          .filter((row) => covers(scope, row))
          .filter(({ data }) => Object.keys(filters).every((field) => (data[field] ?? null) === filters[field]))
        const found = await store().records.list(widgets, scope, { where, limit: 20, ascending: true })
        expect(idsOf(found)).toEqual(idsOf(expected))
        const after = { where, limit: 2, after: found.at(-1)?.id ?? '~' }
        expect(idsOf(await store().records.list(widgets, scope, after))).toEqual(
          idsOf(expected.slice(0, -1).toReversed().slice(0, 2)),
        )
        expect(await store().records.count(widgets, scope, where)).toBe(expected.length)
        expect((await store().records.total(widgets, scope, where)).count).toBe(expected.length)
      }
    }
  })

  it('returns the exact total of lists with few and with many records', async () => {
    const project = fresh('prj')
    const scope = projectScope(project)
    const rows = Array.from({ length: 1_200 }, () => ({ kind: widgets, record: recordOf(fresh('wid'), { project }) }))
    await store().records.project(rows.slice(0, 900))
    expect((await store().records.total(widgets, scope, { status: 'active' })).count).toBe(900)
    await store().records.project(rows.slice(900))
    expect((await store().records.total(widgets, scope, { status: 'active' })).count).toBe(1_200)
  })

  it('filters by any text exactly', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (status, other) => {
        const project = fresh('prj')
        const record = recordOf(fresh('wid'), { project, data: { status } })
        await store().records.insert(widgets, record)
        const matching = (text: string) => store().records.count(widgets, projectScope(project), { status: text })
        expect(await matching(status)).toBe(1)
        expect(await matching(other)).toBe(other === status ? 1 : 0)
      }),
      { numRuns: runsByDay(40) },
    )
  })

  it('updates a filtered field when a record is replaced', async () => {
    const project = fresh('prj')
    const scope = projectScope(project)
    const record = recordOf(fresh('wid'), { project })
    await store().records.insert(widgets, record)
    await store().records.replace(widgets, { ...record, version: 2, data: { status: 'done' } })
    expect(await store().records.count(widgets, scope, { status: 'active' })).toBe(0)
    expect(await store().records.count(widgets, scope, { status: 'done' })).toBe(1)
  })

  it('refuses a filter without an index', async () => {
    const scope = projectScope('prj_1')
    await expect(store().records.list(widgets, scope, { where: { colour: 'red' }, limit: 1 })).rejects.toThrow(
      'no index',
    )
    await expect(store().records.count(gadgets, scope, { status: 'x' })).rejects.toThrow('no index')
    const apart = { weight: 1, owner: 'o' }
    await expect(store().records.list(widgets, scope, { where: apart, limit: 1 })).rejects.toThrow('no index')
    await expect(store().records.total(widgets, scope, apart)).rejects.toThrow('no index')
  })

  it('finds records written before a filter and a unique key were declared', async () => {
    const old = { name: 'grown' }
    const grown = { name: 'grown', filters: ['colour'], unique: [{ fields: ['code'] }] }
    const record = recordOf(fresh('gro'), { data: { colour: 'red', code: 'c1' } })
    const scope = projectScope('prj_1')
    await store().records.prepare([old])
    await store().records.insert(old, record)
    await store().records.prepare([grown])
    await store().records.prepare([grown])
    expect(await store().records.list(grown, scope, { where: { colour: 'red' }, limit: 5 })).toEqual([record])
    expect(await store().records.find(grown, scope, { code: 'c1' })).toEqual(record)
    expect(await store().records.insert(grown, recordOf(fresh('gro'), { data: { code: 'c1' } }))).toBe('exists')
  })
}
