import { describe, expect, it } from 'vitest'
import { projectKeys } from '#actors/accounts/kinds.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope } from '#storage/scope.ts'
import { addForeign, callOf, openAccounts } from './account-harness.ts'

const dayS = 86_400

const open = async () => {
  const accounts = await openAccounts()
  const { useCases, dashboard, project, auth } = accounts
  const at = (key_id: string) => ({ project_id: project, key_id })
  return {
    ...accounts,
    create: (body: { name: string; expires_at?: string | null } = { name: 'ci' }) =>
      useCases['project_keys.create'](callOf(dashboard, { project_id: project }, {}, body)),
    revoke: (id: string, principal = dashboard) =>
      useCases['project_keys.delete'](callOf(principal, at(id), {}, undefined)),
    rotate: (id: string, grace_s = dayS, principal = dashboard) =>
      useCases['project_keys.rotate'](callOf(principal, at(id), {}, { grace_s })),
    list: (principal = dashboard) =>
      useCases['project_keys.list'](callOf(principal, { project_id: project }, { limit: 20 }, undefined)),
    works: async (key: string) => (await auth.apiKeys.verify(key)) !== null,
  }
}

describe('project keys', () => {
  it('are shown once at their creation, and afterwards by their first and last characters', async () => {
    const { create, list, works, owner } = await open()
    const made = await create()
    expect(made.key).toMatch(/^csk_[\w-]{43}$/)
    expect(made).toMatchObject({ name: 'ci', created_by: owner.id, expires_at: null, revoked_at: null })
    expect(await works(made.key)).toBe(true)
    const { data } = await list()
    expect(data[0]).toEqual({ ...made, key: undefined })
    expect(data[0]).not.toHaveProperty('hash')
    expect(JSON.stringify(data)).not.toContain(made.key)
    expect(made.key.startsWith(data[0]?.prefix ?? '?') && made.key.endsWith(data[0]?.last4 ?? '?')).toBe(true)
  })

  it('are refused at once when revoked, and a repeated revocation changes nothing', async () => {
    const { clock, create, revoke, works } = await open()
    const { id, key } = await create()
    expect(await works(key)).toBe(true)
    const first = await revoke(id)
    expect(await works(key)).toBe(false)
    clock.now += 5000
    expect((await revoke(id)).revoked_at).toBe(first.revoked_at)
  })

  it('expire at the given time, which cannot be in the past', async () => {
    const { clock, create, works } = await open()
    const { key } = await create({ name: 'short', expires_at: new Date(clock.now + 60_000).toISOString() })
    clock.now += 59_999
    expect(await works(key)).toBe(true)
    clock.now += 1
    expect(await works(key)).toBe(false)
    await expect(create({ name: 'old', expires_at: new Date(clock.now).toISOString() })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param: 'expires_at' },
    })
  })

  it('are both valid during the grace period after a rotation, and then only the new one', async () => {
    const { clock, create, rotate, works } = await open()
    const old = await create()
    const made = await rotate(old.id)
    expect(made.id).not.toBe(old.id)
    expect([await works(old.key), await works(made.key)]).toEqual([true, true])
    clock.now += dayS * 1000 - 1
    expect(await works(old.key)).toBe(true)
    clock.now += 1
    expect([await works(old.key), await works(made.key)]).toEqual([false, true])
  })

  it('are replaced at once by a rotation without a grace period', async () => {
    const { create, rotate, works } = await open()
    const old = await create()
    await works(old.key)
    const made = await rotate(old.id, 0)
    expect([await works(old.key), await works(made.key)]).toEqual([false, true])
  })

  it('keep their expiry through a rotation', async () => {
    const { clock, create, rotate } = await open()
    const expires_at = new Date(clock.now + 60_000).toISOString()
    const old = await create({ name: 'short', expires_at })
    expect((await rotate(old.id)).expires_at).toBe(expires_at)
  })

  it('are rotated once, even by concurrent requests, without an extra key', async () => {
    const { create, rotate, revoke, list } = await open()
    const old = await create()
    const outcomes = await Promise.allSettled([rotate(old.id), rotate(old.id)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await list()).data).toHaveLength(3)
    await expect(rotate(old.id)).rejects.toMatchObject({ code: 'invalid_transition' })
    const revoked = await create()
    await revoke(revoked.id)
    await expect(rotate(revoked.id)).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('are created once by a rotation that is repeated after a crash', async () => {
    const { useCases, dashboard, project, create, list, works } = await open()
    const old = await create()
    const idempotency = { cause: 'c', fingerprint: 'f', seed: newId('x').slice(2) }
    const rotate = () => {
      const call = callOf(dashboard, { project_id: project, key_id: old.id }, {}, { grace_s: 0 })
      return useCases['project_keys.rotate']({ ...call, idempotency })
    }
    const [lost, answered] = [await rotate(), await rotate()]
    expect(answered.id).toBe(lost.id)
    expect((await list()).data).toHaveLength(3)
    expect([await works(old.key), await works(lost.key), await works(answered.key)]).toEqual([false, false, true])
  })

  it('are not found by another organisation', async () => {
    const accounts = await open()
    const { dashboard: eve } = await addForeign(accounts)
    const { id, key } = await accounts.create()
    await expect(accounts.revoke(id, eve)).rejects.toMatchObject({ code: 'not_found' })
    await expect(accounts.rotate(id, 0, eve)).rejects.toMatchObject({ code: 'not_found' })
    expect((await accounts.list(eve)).data).toEqual([])
    expect(await accounts.works(key)).toBe(true)
  })

  it('are stored without the key', async () => {
    const { create, records, now, project } = await open()
    const { id, key } = await create()
    const row = await new Table(records, projectKeys, now).get(projectScope(project), id)
    expect(JSON.stringify(row)).not.toContain(key.slice(8, -4))
  })
})
