import { describe, expect, it } from 'vitest'
import { projectKeys } from '#actors/accounts/kinds.ts'
import type { Call } from '#actors/call/call.ts'
import { tenants } from '#actors/tenants/kinds.ts'
import { limitSubjects } from '#actors/tenants/limit-subjects.ts'
import { grantCredits, ungateCredits } from '#gateway/limits/grant-credits.ts'
import { limitUseCases } from '#gateway/limits/limit-use-cases.ts'
import { callOf, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { project } from '../ledger/calls.ts'
import { openLimited, organization, requestOf } from './limited.ts'

const world = async () => {
  const clock = new VirtualClock()
  const { records } = openMemoryStorage({ now: clock.now })
  const { admission, book } = await openLimited(records, clock)
  const projects = { settings: () => ({ organization, name: 'p', allowedOrigins: [], redactsByDefault: true }) }
  const useCases = noted(limitUseCases({ records, book, projects, subjects: limitSubjects(records), now: clock.now }))
  const times = { version: 1, created_at: 1, updated_at: 1, expires_at: null }
  for (const status of ['active', 'suspended', 'deleting']) {
    const id = status === 'active' ? 'ten_a' : `ten_${status}`
    const data = { external_id: status, status }
    await records.insert(tenants, { id, project, tenant: id, user: null, ...times, data })
  }
  await records.insert(projectKeys, { id: 'key_1', project, tenant: null, user: null, ...times, data: { hash: 'h' } })
  return { clock, records, admission, useCases }
}

const call = <Params, Query, Body>(params: Params, query: Query, body: Body): Call<Params, Query, Body> =>
  callOf(params, query, body, secretOf(project))

describe('limits', () => {
  it('are replaced by a later limit of the same subject', async () => {
    const { useCases } = await world()
    const first = await useCases['limits.create'](call({}, {}, { subject: 'project', requests_per_minute: 5 }))
    const body = { subject: 'project', tokens_per_minute: 7 } as const
    const second = await useCases['limits.create'](call({}, {}, body))
    expect(second).toMatchObject({ id: first.id, requests_per_minute: null, tokens_per_minute: 7, spent_day_usd: null })
    const list = await useCases['limits.list'](call({}, { limit: 20 }, undefined))
    expect(list.data).toEqual([second])
  })

  it('are listed by subject', async () => {
    const { useCases } = await world()
    await useCases['limits.create'](call({}, {}, { subject: 'project' }))
    await useCases['limits.create'](call({}, {}, { subject: 'tenant', subject_id: 'ten_a' }))
    await useCases['limits.create'](call({}, {}, { subject: 'key', subject_id: 'key_1' }))
    const subjects = async (query: { subject?: 'tenant'; subject_id?: string }) =>
      (await useCases['limits.list'](call({}, { limit: 20, ...query }, undefined))).data.map(({ subject }) => subject)
    expect(await subjects({})).toEqual(['key', 'tenant', 'project'])
    expect(await subjects({ subject: 'tenant' })).toEqual(['tenant'])
    expect(await subjects({ subject_id: 'key_1' })).toEqual(['key'])
  })

  it('are set for a suspended tenant, and not for one that is being deleted', async () => {
    const { useCases } = await world()
    const set = (subject_id: string) => useCases['limits.create'](call({}, {}, { subject: 'tenant', subject_id }))
    expect(await set('ten_suspended')).toMatchObject({ subject_id: 'ten_suspended' })
    await expect(set('ten_deleting')).rejects.toMatchObject({ code: 'tenant_deleting' })
  })

  it.each([
    [{ subject: 'project', subject_id: 'ten_a' }, 'invalid_field'],
    [{ subject: 'tenant' }, 'missing_field'],
    [{ subject: 'tenant', subject_id: 'ten_b' }, 'not_found'],
    [{ subject: 'key', subject_id: 'ten_a' }, 'not_found'],
  ] as const)('are refused for an invalid subject: %o', async (body, code) => {
    const { useCases } = await world()
    const refused = useCases['limits.create'](call({}, {}, body))
    await expect(refused).rejects.toMatchObject({ code, details: { param: 'subject_id' } })
  })

  it('report spent and reserved amounts, and are deleted with these', async () => {
    const { useCases, admission } = await world()
    const { id } = await useCases['limits.create'](call({}, {}, { subject: 'project', budget_month_usd: '10' }))
    const ticket = await admission.admit(requestOf())
    const shown = () => useCases['limits.get'](call({ limit_id: id }, {}, undefined))
    expect(await shown()).toMatchObject({ spent_month_usd: '0', reserved_usd: '1' })
    ticket.settle('0.5', 0)
    await admission.flush()
    expect(await shown()).toMatchObject({ spent_month_usd: '0.5', spent_total_usd: '0.5', reserved_usd: '0' })
    expect(await useCases['limits.delete'](call({ limit_id: id }, {}, undefined))).toEqual({ id, deleted: true })
    await expect(shown()).rejects.toMatchObject({ code: 'not_found' })
    await useCases['limits.create'](call({}, {}, { subject: 'project', budget_month_usd: '1' }))
    await admission.admit(requestOf())
  })
})

describe('credits', () => {
  it('are reported with grants and costs, and as null for an organisation without gating', async () => {
    const { useCases, records, admission, clock } = await world()
    const shown = () => useCases['credits.get'](call({}, {}, undefined))
    expect(await shown()).toEqual({
      organization_id: organization,
      gated: false,
      granted_usd: null,
      spent_usd: null,
      balance_usd: null,
    })
    await grantCredits(records, clock.now, { organization, usd: '2' })
    await grantCredits(records, clock.now, { organization, usd: '0.5' })
    const ticket = await admission.admit(requestOf())
    ticket.settle('0.75', 0)
    await admission.flush()
    expect(await shown()).toMatchObject({ gated: true, granted_usd: '2.5', spent_usd: '0.75', balance_usd: '1.75' })
    expect(await ungateCredits(records, organization)).toBe(true)
    expect(await shown()).toMatchObject({ gated: false })
  })
})
