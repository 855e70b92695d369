import { describe, expect, it } from 'vitest'
import { auditLog } from '#actors/audit/kinds.ts'
import { sessionRows } from '#actors/sessions/kinds.ts'
import { tenantUsers } from '#actors/tenants/kinds.ts'
import { everyChoiceOf, listIndexFor } from '#storage/list-index.ts'
import { projectScope, tenantScope, userScope } from '#storage/scope.ts'
import { widgets } from './samples.ts'

const whole = projectScope('prj_1')
const tenant = tenantScope('prj_1', 'ten_1')
const user = userScope('prj_1', 'ten_1', 'u')

describe('the index of a list', () => {
  it('is that of the scope if there are no conditions', () => {
    expect([whole, tenant, user].map((scope) => listIndexFor(widgets, scope, {})?.name)).toEqual([
      'by_project',
      'by_tenant',
      'by_user',
    ])
  })

  it('covers all conditions on fields declared together, in the narrowest scope that has an index', () => {
    const status = { status: 'active' }
    expect(listIndexFor(widgets, whole, { weight: 1, ...status })?.fields).toEqual(['status', 'weight'])
    expect(listIndexFor(widgets, tenant, status)?.owner).toEqual(['project', 'tenant'])
    expect(listIndexFor(widgets, user, status)?.owner).toEqual(['project', 'tenant', 'user'])
    expect(listIndexFor(widgets, user, { weight: 1 })?.owner).toEqual(['project'])
  })

  it('is that of a narrow field if the conditions are not declared together, and an error if there is none', () => {
    expect(listIndexFor(widgets, whole, { place: 'p', owner: 'o' })?.fields).toEqual(['place'])
    expect(() => listIndexFor(widgets, whole, { weight: 1, owner: 'o' })).toThrow('no index on weight and owner')
    expect(() => listIndexFor(widgets, whole, { owner: 'o' })).toThrow('no index on owner')
  })

  it('is left to the database if a unique key selects one record', () => {
    expect(listIndexFor(widgets, whole, { external_id: 'e', weight: 1 })).toBeNull()
  })

  it('exists once for every choice of fields of everyChoiceOf', () => {
    const choices = everyChoiceOf(['a', 'b', 'c'], ['project', 'tenant']).map(({ fields, within }) => [
      within,
      ...fields,
    ])
    expect(choices).toHaveLength(14)
    expect(new Set(choices.map((choice) => choice.join())).size).toBe(14)
    expect(choices).toContainEqual(['tenant', 'a', 'c'])
  })
})

describe('the index of a filtered list', () => {
  const columns = (...[kind, scope, where]: Parameters<typeof listIndexFor>) => {
    const index = listIndexFor(kind, scope, where)
    return index && [...index.owner, ...index.fields]
  }

  it('of sessions matches the filter, the user and the agent', () => {
    const [status, agent] = [{ status: 'active' }, { agent_id: 'agt_1' }]
    expect(columns(sessionRows, whole, status)).toEqual(['project', 'status'])
    expect(columns(sessionRows, user, status)).toEqual(['project', 'tenant', 'user', 'status'])
    expect(columns(sessionRows, whole, { ...agent, ...status })).toEqual(['project', 'agent_id', 'status'])
  })

  it('of tenant users belongs to the tenant', () => {
    expect(columns(tenantUsers, tenant, { state: 'active' })).toEqual(['project', 'tenant', 'state'])
  })

  it('of the audit log covers all conditions, or the resource id alone', () => {
    const fields = ['action', 'actor_id', 'resource_type', 'resource_id']
    for (let choice = 0; choice < 16; choice++) {
      const given = fields.filter((_, at) => choice & (1 << at))
      const where = Object.fromEntries(given.map((field) => [field, 'x']))
      const found = given.includes('resource_id') ? ['resource_id'] : given
      expect(listIndexFor(auditLog, whole, where)?.fields).toEqual(found)
      expect(listIndexFor(auditLog, tenant, where)?.fields).toEqual(found)
      if (!given.includes('resource_id')) expect(listIndexFor(auditLog, tenant, where)?.owner).toContain('tenant')
    }
  })
})
