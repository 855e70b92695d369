import fc from 'fast-check'
import { expect, it } from 'vitest'
import { covers, projectScope, type Scope, scopeAmong, tenantScope, userScope } from '#storage/scope.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Subject } from '../contract.ts'
import { recordOf, widgets } from '../samples.ts'

/** Contract of scopes: no method reads or changes records outside the scope. */
export const scopeContract = ({ store, fresh }: Subject): void => {
  it('hides records of another project, tenant or user from get, find, list, count and remove', async () => {
    const [own, other] = [fresh('prj'), fresh('prj')]
    const external_id = fresh('ext')
    const record = recordOf(fresh('wid'), { project: own, tenant: 't1', user: 'u1', data: { external_id } })
    await store().records.insert(widgets, record)
    const foreign = [
      projectScope(other),
      tenantScope(own, 't2'),
      tenantScope(other, 't1'),
      userScope(own, 't1', 'u2'),
      userScope(own, 't2', 'u1'),
    ]
    for (const scope of foreign) {
      expect(await store().records.get(widgets, scope, record.id)).toBeNull()
      expect(await store().records.find(widgets, scope, { external_id })).toBeNull()
      expect(await store().records.list(widgets, scope, { limit: 10 })).toEqual([])
      expect(await store().records.count(widgets, scope)).toBe(0)
      expect(await store().records.remove(widgets, scope, record.id)).toBe(false)
    }
    for (const scope of [projectScope(own), tenantScope(own, 't1'), userScope(own, 't1', 'u1')]) {
      expect(await store().records.get(widgets, scope, record.id)).toEqual(record)
      expect(await store().records.find(widgets, scope, { external_id })).toEqual(record)
      expect(await store().records.list(widgets, scope, { limit: 10 })).toEqual([record])
      expect(await store().records.count(widgets, scope)).toBe(1)
    }
    expect(await store().records.remove(widgets, userScope(own, 't1', 'u1'), record.id)).toBe(true)
  })

  it('pages through all projects by id, without expired records', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c'].map(async (_, n) => {
        const record = recordOf(fresh('wid'), { project: fresh('prj'), tenant: n === 1 ? 't1' : null })
        await store().records.insert(widgets, record)
        return record
      }),
    )
    await store().records.insert(widgets, recordOf(fresh('wid'), { expires_at: 1 }))
    const found = []
    for (let after: string | null = null; ; ) {
      const page = await store().records.ofEveryProject(widgets, after, 2)
      found.push(...page)
      if (page.length < 2) break
      after = page.at(-1)?.id ?? null
    }
    expect(found.map(({ id }) => id)).toEqual([...new Set(found.map(({ id }) => id))].sort())
    expect(found.filter(({ id }) => made.some((each) => each.id === id))).toEqual(made)
    expect(found.filter(({ expires_at }) => expires_at === 1)).toEqual([])
  })

  it('lists exactly the records that the scope covers', async () => {
    const name = fc.constantFrom('a', 'b')
    const several = fc.option(fc.record({ tenants: fc.subarray(['a', 'b', 'c']), untenanted: fc.boolean() }))
    const owner = fc.record({ tenant: fc.option(name), user: fc.option(name) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(owner, { maxLength: 8 }),
        fc.option(name),
        fc.option(name),
        several,
        async (owners, t, u, among) => {
          const project = fresh('prj')
          const records = owners.map((who) => recordOf(fresh('wid'), { project, ...who }))
          for (const record of records) await store().records.insert(widgets, record)
          const single: Scope =
            t === null ? projectScope(project) : u === null ? tenantScope(project, t) : userScope(project, t, u)
          const scope = among === null ? single : scopeAmong(single, among)
          const seen = await store().records.list(widgets, scope, { limit: 20, ascending: true })
          expect(seen).toEqual(records.filter((record) => covers(scope, record)))
          expect(await store().records.count(widgets, scope)).toBe(seen.length)
        },
      ),
      { numRuns: runsByDay(25) },
    )
  })
}
