import { expect, it } from 'vitest'
import { projectScope, tenantScope, userScope, wholeProjectScope } from '#storage/scope.ts'
import type { Subject } from '../contract.ts'
import { commitOf, gadgets, letters, logOf, recordOf } from '../samples.ts'

/** Contract of removing everything that a tenant or a user owns. */
export const removalContract = ({ store, fresh, setNow }: Subject): void => {
  const put = async (change: Parameters<typeof recordOf>[1]): Promise<string> => {
    const record = recordOf(fresh('gad'), change)
    await store().records.insert(gadgets, record)
    return record.id
  }

  it('clears everything of a tenant, including expired records, and nothing of other owners', async () => {
    setNow(10_000)
    const [tenant, other] = [fresh('ten'), fresh('ten')]
    const kept = [await put({ tenant: other }), await put({}), await put({ tenant, project: 'prj_2' })]
    await put({ tenant })
    await put({ tenant, user: 'u' })
    await put({ tenant, expires_at: 9_000 })
    const scope = tenantScope('prj_1', tenant)
    expect(await store().records.left(gadgets, scope)).toBe(3)
    expect(await store().records.clear(gadgets, scope, 2)).toBe(2)
    expect(await store().records.clear(gadgets, scope, 2)).toBe(1)
    expect(await store().records.clear(gadgets, scope, 2)).toBe(0)
    expect(await store().records.left(gadgets, scope)).toBe(0)
    for (const id of kept.slice(0, 2))
      expect(await store().records.get(gadgets, projectScope('prj_1'), id)).not.toBeNull()
    expect(await store().records.left(gadgets, tenantScope('prj_2', tenant))).toBe(1)
  })

  it('clears everything of one user and leaves the rest of the tenant', async () => {
    const tenant = fresh('ten')
    await put({ tenant, user: 'u' })
    await put({ tenant, user: 'v' })
    expect(await store().records.clear(gadgets, userScope('prj_1', tenant, 'u'), 10)).toBe(1)
    expect(await store().records.left(gadgets, tenantScope('prj_1', tenant))).toBe(1)
  })

  it('keeps and counts a record with an outbox until the outbox is delivered', async () => {
    const tenant = fresh('ten')
    const scope = tenantScope('prj_1', tenant)
    const record = recordOf(fresh('let'), { tenant, outbox: [{ id: 'm', to: 'act_1', event: { type: 'told' } }] })
    await store().records.insert(letters, record)
    expect(await store().records.clear(letters, scope, 10)).toBe(0)
    expect(await store().records.left(letters, scope)).toBe(1)
    await store().records.closeOutbox(letters, record)
    expect(await store().records.clear(letters, scope, 10)).toBe(1)
  })

  it('never accepts the scope of a whole project as that of an owner', async () => {
    await expect(async () => store().records.clear(gadgets, projectScope('prj_1'), 1)).rejects.toThrow(
      'only what a tenant',
    )
    await expect(async () => store().records.left(gadgets, projectScope('prj_1'))).rejects.toThrow('only what a tenant')
  })

  it('removes everything of a deleted project and nothing of another', async () => {
    const [project, other] = [fresh('prj'), fresh('prj')]
    const rows = [{ project }, { project, tenant: fresh('ten') }, { project: other }]
    for (const row of rows) await store().records.insert(gadgets, recordOf(fresh('gad'), row))
    expect(await store().records.left(gadgets, wholeProjectScope(project))).toBe(2)
    expect(await store().records.clear(gadgets, wholeProjectScope(project), 10)).toBe(2)
    expect(await store().records.left(gadgets, wholeProjectScope(project))).toBe(0)
    expect(await store().records.left(gadgets, wholeProjectScope(other))).toBe(1)
  })

  it('pages through the actors of a project, those of tenants and those without a tenant', async () => {
    const project = fresh('prj')
    const [first, second, third] = [fresh('ses'), fresh('ses'), fresh('ses')]
    const logs = logOf(second, [1, 1]).map((commit) => ({ ...commit, project, tenant: fresh('ten') }))
    await store().commits.append([...logs, commitOf(third, 1, { project }), commitOf(fresh('ses'), 1)])
    await store().commits.append([commitOf(first, 1, { project, tenant: fresh('ten') })])
    const actors = (after: string | null, limit: number) => store().commits.actorsOf(project, null, { after, limit })
    expect(await actors(null, 10)).toEqual([first, second, third])
    expect(await actors(first, 1)).toEqual([second])
    await store().commits.forget(second)
    expect(await actors(null, 10)).toEqual([first, third])
  })

  it('pages through the actors of a tenant, each once, until their logs are removed', async () => {
    const tenant = fresh('ten')
    const [first, second, others] = [fresh('ses'), fresh('ses'), fresh('ses')]
    await store().commits.append(logOf(second, [1, 1, 1]).map((commit) => ({ ...commit, tenant })))
    await store().commits.append([commitOf(first, 1, { tenant }), commitOf(others, 1, { tenant: fresh('ten') })])
    await store().commits.append([commitOf(fresh('ses'), 1, { tenant, project: 'prj_2' }), commitOf(fresh('ses'), 1)])
    expect(await store().commits.actorsOf('prj_1', tenant, { after: null, limit: 10 })).toEqual([first, second])
    expect(await store().commits.actorsOf('prj_1', tenant, { after: first, limit: 1 })).toEqual([second])
    expect(await store().commits.actorsOf('prj_1', tenant, { after: null, limit: 1 })).toEqual([first])
    await store().commits.forget(second)
    expect(await store().commits.actorsOf('prj_1', tenant, { after: null, limit: 10 })).toEqual([first])
    expect(await store().commits.head(second)).toBeNull()
  })

  it('removes the blobs of one owner', async () => {
    const [project, hash] = [fresh('prj'), fresh('sha')]
    const keys = [`ten_1.ses_1.${hash}`, `ten_1.ses_2.${hash}`, `ten_10.${hash}`, hash]
    for (const key of keys) await store().blobs.put(project, key, 'x'.repeat(9 * 1024 * 1024))
    await store().blobs.put(`${project}0`, `ten_1.${hash}`, 'x')
    await store().blobs.remove(project, 'ten_1.ses_1.')
    expect(await store().blobs.hashes(project, null, 10)).toEqual([...keys.slice(1)].sort())
    await store().blobs.remove(project, 'ten_1.')
    expect(await store().blobs.hashes(project, null, 10)).toEqual([...keys.slice(2)].sort())
    expect(await store().blobs.get(project, keys[0] ?? '')).toBeNull()
    expect(await store().blobs.get(`${project}0`, `ten_1.${hash}`)).toBe('x')
    await expect(async () => store().blobs.remove(project, '')).rejects.toThrow('not empty')
  })
}
