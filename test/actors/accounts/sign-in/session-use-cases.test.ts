import { describe, expect, it } from 'vitest'
import { deviceName } from '#actors/accounts/sign-in/device-name.ts'
import type { Principal } from '#actors/call/call.ts'
import { addForeign, callOf, openAccounts, ownerEmail, ownerPassword } from '../account-harness.ts'

const visitor: Principal = { kind: 'public' }
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const open = async () => {
  const accounts = await openAccounts()
  const { useCases, auth, project, dashboard } = accounts
  const signIn = async (email = ownerEmail, address = '10.0.0.1') => {
    const call = { ...callOf(visitor, {}, {}, { email, password: ownerPassword }, address), userAgent: firefox }
    const { headers } = await useCases['auth.login'](call)
    const value = /session=([^;]*)/.exec(String(headers[0]?.[1]))?.[1] ?? ''
    return { value, principal: await auth.credentials.dashboard(value, project) }
  }
  await useCases['project_members.create'](
    callOf(
      dashboard,
      { project_id: project },
      {},
      { email: 'bob@example.org', password: ownerPassword, role: 'admin' },
    ),
  )
  const list = (by: Principal, query: { member_id?: string } = {}) =>
    useCases['auth_sessions.list'](callOf(by, {}, { limit: 100, ...query }, undefined))
  const end = (by: Principal, auth_session_id: string) =>
    useCases['auth_sessions.delete'](callOf(by, { auth_session_id }, {}, undefined))
  const audited = async () => {
    const { data } = await useCases['audit_log.list'](callOf(accounts.secret, {}, { limit: 100 }, undefined))
    return data.map(({ action, resource, actor }) => [action, resource.id, actor.id])
  }
  return { ...accounts, signIn, list, end, audited }
}

describe('the sessions of a member', () => {
  it('are listed with their device, kind of address, use and which one it is', async () => {
    const { signIn, list, owner, clock } = await open()
    await signIn(ownerEmail, '2001:db8::1')
    const { value: _value, principal } = await signIn()
    const { data } = await list(principal)
    const time = new Date(clock.now).toISOString()
    expect(data).toHaveLength(2)
    expect(data[0]).toMatchObject({
      ...{ member_id: owner.id, is_current: true, method: 'password', device: 'Firefox on Linux' },
      ...{ address_family: 'ipv4', created_at: time, last_used_at: time },
    })
    expect(data[1]).toMatchObject({ is_current: false, address_family: 'ipv6' })
    expect(JSON.stringify(data)).not.toMatch(/hash|2001:db8|10\.0\.0/)
  })

  it('are ended one by one, at once here and within a second on another node, and audited', async () => {
    const { signIn, list, end, auth, otherNode, clock, audited, owner } = await open()
    const [here, there] = [await signIn(), await signIn()]
    const other = otherNode().auth.dashboardSessions
    expect(await other.verify(there.value)).not.toBeNull()
    const { data } = await list(here.principal)
    const id = data.find(({ is_current }) => !is_current)?.id ?? ''
    expect(await end(here.principal, id)).toEqual({ id, deleted: true })
    expect(await auth.dashboardSessions.verify(there.value)).toBeNull()
    expect(await auth.dashboardSessions.verify(here.value)).not.toBeNull()
    clock.now += 1000
    expect(await other.verify(there.value)).toBeNull()
    await expect(end(here.principal, id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await audited()).toEqual(
      expect.arrayContaining([
        ['member.signed_in', owner.id, owner.id],
        ['member.session_ended', owner.id, owner.id],
      ]),
    )
  })

  it('are all ended but the one of the request', async () => {
    const { signIn, auth, useCases, audited, owner } = await open()
    const [one, two, here, bob] = [await signIn(), await signIn(), await signIn(), await signIn('bob@example.org')]
    const answer = await useCases['auth.end_other_sessions'](callOf(here.principal, {}, {}, undefined))
    expect(answer).toEqual({ ended: 2 })
    const verified = await Promise.all([one, two, here, bob].map(({ value }) => auth.dashboardSessions.verify(value)))
    expect(verified.map((each) => each !== null)).toEqual([false, false, true, true])
    expect(await audited()).toContainEqual(['member.other_sessions_ended', owner.id, owner.id])
  })

  it('are those of others for owners of the same organisation only', async () => {
    const accounts = await open()
    const { signIn, list, end, owner } = accounts
    const [mine, bobs] = [await signIn(), await signIn('bob@example.org')]
    const { data } = await list(mine.principal, {
      member_id: bobs.principal.kind === 'dashboard' ? bobs.principal.memberId : '',
    })
    expect(data).toHaveLength(1)
    await expect(list(bobs.principal, { member_id: owner.id })).rejects.toMatchObject({ code: 'forbidden' })
    const own = (await list(mine.principal)).data[0]?.id ?? ''
    await expect(end(bobs.principal, own)).rejects.toMatchObject({ code: 'not_found' })
    const foreign = await addForeign(accounts)
    await expect(end(foreign.dashboard, own)).rejects.toMatchObject({ code: 'not_found' })
    expect((await list(foreign.dashboard, { member_id: owner.id })).data).toEqual([])
    expect(await end(mine.principal, data[0]?.id ?? '')).toMatchObject({ deleted: true })
  })
})

describe('the name of a device', () => {
  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.0 Safari/604.1',
      'Safari on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'curl'],
    ['<script>alert(1)</script>', null],
    ['', null],
    [`${'x'.repeat(100_000)}`, 'x'.repeat(40)],
  ])('of %.40s', (userAgent, name) => {
    expect(deviceName(userAgent)).toBe(name)
  })
})
