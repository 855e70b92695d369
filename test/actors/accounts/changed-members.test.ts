import { describe, expect, it } from 'vitest'
import { resetOwner } from '#actors/accounts/reset-owner.ts'
import type { Principal } from '#actors/call/call.ts'
import { addForeign, callOf, openAccounts, ownerEmail, ownerPassword } from './account-harness.ts'

const visitor: Principal = { kind: 'public' }
const nextPassword = 'twelve other letters'

const open = async () => {
  const accounts = await openAccounts()
  const { useCases, auth, project, dashboard } = accounts
  const signIn = async (email: string, password: string) => {
    const { headers } = await useCases['auth.login'](callOf(visitor, {}, {}, { email, password }))
    const value = /troupe_session=([^;]*)/.exec(String(headers.find(([name]) => name === 'set-cookie')?.[1]))?.[1] ?? ''
    return { value, principal: await auth.credentials.dashboard(value, project) }
  }
  const add = (email: string, role: 'owner' | 'member' = 'member') =>
    useCases['project_members.create'](
      callOf(dashboard, { project_id: project }, {}, { email, role, password: ownerPassword }),
    )
  const update = (member_id: string, body: object, by: Principal = dashboard) =>
    useCases['project_members.update'](callOf(by, { project_id: project, member_id }, {}, body))
  const audited = async () => {
    const { data } = await useCases['audit_log.list'](callOf(accounts.secret, {}, { limit: 100 }, undefined))
    return data.map(({ action, resource, changes }) => [action, resource.id, changes])
  }
  return { ...accounts, signIn, add, update, audited }
}

describe('a member', () => {
  it('changes its password with the current one, which ends its other sessions', async () => {
    const { useCases, auth, signIn } = await open()
    const [here, elsewhere] = [await signIn(ownerEmail, ownerPassword), await signIn(ownerEmail, ownerPassword)]
    const change = (password: string) =>
      useCases['auth.change_password'](callOf(here.principal, {}, {}, { password, new_password: nextPassword }))

    await expect(change('wrong')).rejects.toMatchObject({ code: 'invalid_credentials', details: { param: 'password' } })
    expect(await change(ownerPassword)).toEqual({ success: true })
    expect(await auth.dashboardSessions.verify(here.value)).not.toBeNull()
    expect(await auth.dashboardSessions.verify(elsewhere.value)).toBeNull()
    await expect(signIn(ownerEmail, ownerPassword)).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect((await signIn(ownerEmail, nextPassword)).value).not.toBe('')
  })

  it('can be given another role, name and address by an owner, and keeps the other fields', async () => {
    const { add, update } = await open()
    const { id } = await add('bob@example.org')
    expect(await update(id, { role: 'admin' })).toMatchObject({ email: 'bob@example.org', role: 'admin' })
    expect(await update(id, { email: 'Bob.B@Example.org', name: 'Bob' })).toMatchObject({
      ...{ email: 'bob.b@example.org', name: 'Bob', role: 'admin' },
    })
  })

  it('is signed out everywhere when an owner sets its password', async () => {
    const { auth, add, update, signIn } = await open()
    const { id } = await add('bob@example.org')
    const { value } = await signIn('bob@example.org', ownerPassword)
    await update(id, { password: nextPassword })
    expect(await auth.dashboardSessions.verify(value)).toBeNull()
    expect((await signIn('bob@example.org', nextPassword)).value).not.toBe('')
  })

  it('cannot take the address of another member', async () => {
    const { add, update } = await open()
    const { id } = await add('bob@example.org')
    await expect(update(id, { email: ownerEmail })).rejects.toMatchObject({ code: 'already_exists' })
  })

  it('of another organisation is not found', async () => {
    const accounts = await open()
    const { dashboard } = await addForeign(accounts)
    await expect(accounts.update(accounts.owner.id, { role: 'member' }, dashboard)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('remains an owner while it is the last one', async () => {
    const { owner, add, update, audited } = await open()
    await expect(update(owner.id, { role: 'admin' })).rejects.toMatchObject({ code: 'invalid_transition' })
    await add('bob@example.org', 'owner')
    expect(await update(owner.id, { role: 'admin' })).toMatchObject({ role: 'admin' })
    expect(await audited()).toContainEqual(['member.updated', owner.id, ['role']])
  })
})

describe('an operator with access to the store', () => {
  it('can reset the password of an owner, which ends its sessions', async () => {
    const { auth, records, now, owner, signIn, audited } = await open()
    const { value } = await signIn(ownerEmail, ownerPassword)
    const password = await resetOwner({ records, now, dashboardSessions: auth.dashboardSessions }, ownerEmail)
    expect(await auth.dashboardSessions.verify(value)).toBeNull()
    await expect(signIn(ownerEmail, ownerPassword)).rejects.toMatchObject({ code: 'invalid_credentials' })
    expect((await signIn(ownerEmail, password ?? '')).value).not.toBe('')
    expect(await audited()).toContainEqual(['member.password_reset', owner.id, ['password_hash']])
  })

  it('cannot reset the password of a member without the role owner, or of an unknown address', async () => {
    const { auth, records, now, add } = await open()
    await add('bob@example.org')
    const reset = (email: string) => resetOwner({ records, now, dashboardSessions: auth.dashboardSessions }, email)
    expect([await reset('bob@example.org'), await reset('eve@example.org')]).toEqual([null, null])
  })
})
