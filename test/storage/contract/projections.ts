import fc from 'fast-check'
import { expect, it } from 'vitest'
import { projectScope } from '#storage/scope.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Subject } from '../contract.ts'
import { gadgets, recordOf, widgets } from '../samples.ts'

/** Contract of list rows that follow commits. */
export const projectionContract = ({ store, fresh }: Subject): void => {
  const scope = projectScope('prj_1')
  const row = (id: string, version: number) => ({
    kind: widgets,
    record: recordOf(id, { version, data: { status: `v${version}` } }),
  })

  it('keeps the highest version for any order of sequential writes', async () => {
    const versions = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(versions, async (order) => {
        const id = fresh('wid')
        for (const version of order) await store().records.project([row(id, version)])
        expect(await store().records.get(widgets, scope, id)).toEqual(row(id, Math.max(...order)).record)
      }),
      { numRuns: runsByDay(25) },
    )
  })

  it('keeps the highest version for any order of concurrent writes', async () => {
    const versions = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(versions, fc.boolean(), async (order, together) => {
        const id = fresh('wid')
        const rows = order.map((version) => row(id, version))
        if (together) await store().records.project(rows)
        else await Promise.all(rows.map((each) => store().records.project([each])))
        expect(await store().records.get(widgets, scope, id)).toEqual(row(id, Math.max(...order)).record)
      }),
      { numRuns: runsByDay(40) },
    )
  })

  it('shows a row as soon as its write resolves, also in filtered lists', async () => {
    const project = fresh('prj')
    const ids = Array.from({ length: 100 }, () => fresh('wid'))
    await Promise.all(
      ids.map(async (id) => {
        const record = recordOf(id, { project, data: { status: id } })
        await store().records.project([{ kind: widgets, record }])
        const query = { where: { status: id }, limit: 2 }
        expect(await store().records.list(widgets, projectScope(project), query)).toEqual([record])
      }),
    )
    expect(await store().records.count(widgets, projectScope(project))).toBe(100)
  })

  it('accepts rows of several kinds at once', async () => {
    const [a, b] = [recordOf(fresh('wid')), recordOf(fresh('gad'))]
    await store().records.project([
      { kind: widgets, record: a },
      { kind: gadgets, record: b },
    ])
    expect(await store().records.get(widgets, scope, a.id)).toEqual(a)
    expect(await store().records.get(gadgets, scope, b.id)).toEqual(b)
    await store().records.project([])
  })

  it('rejects a row that breaks a unique key, and writes other rows at the same time', async () => {
    const data = { external_id: fresh('ext') }
    await store().records.insert(widgets, recordOf(fresh('wid'), { data }))
    const [bad, good] = [recordOf(fresh('wid'), { data }), recordOf(fresh('wid'))]
    const [first, second] = await Promise.allSettled([
      store().records.project([{ kind: widgets, record: bad }]),
      store().records.project([{ kind: widgets, record: good }]),
    ])
    expect(first.status).toBe('rejected')
    expect(second.status).toBe('fulfilled')
    expect(await store().records.get(widgets, scope, bad.id)).toBeNull()
    expect(await store().records.get(widgets, scope, good.id)).toEqual(good)
  })
}
