import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { callOf, openAccounts, ownerEmail, ownerPassword } from './account-harness.ts'

const visitor: Principal = { kind: 'public' }
const loginOf = (email: string, password: string, address?: string) =>
  callOf(visitor, {}, {}, { email, password }, address)

const cookieOf = (headers: readonly (readonly [string, string])[]): string =>
  headers.find(([name]) => name === 'set-cookie')?.[1] ?? ''

const cookieValue = (cookie: string): string => /troupe_session=([^;]*)/.exec(cookie)?.[1] ?? ''

describe('signing in', () => {
  it('returns the member and sets a cookie that is HttpOnly and SameSite', async () => {
    const { useCases, auth, owner, organization } = await openAccounts()
    const { body, headers } = await useCases['auth.login'](loginOf(ownerEmail, ownerPassword))
    expect(body).toEqual({
      member: { id: owner.id, email: ownerEmail, name: null, role: 'owner' },
      organization: { id: organization, name: 'Default' },
    })
    expect(cookieOf(headers)).toMatch(/^troupe_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
    expect(await auth.dashboardSessions.verify(cookieValue(cookieOf(headers)))).toMatchObject({ memberId: owner.id })
  })

  it('sets a Secure cookie if the dashboard is served over https', async () => {
    const { useCases, auth, project } = await openAccounts({ secureCookies: true })
    const { headers } = await useCases['auth.login'](loginOf(ownerEmail, ownerPassword))
    expect(cookieOf(headers)).toMatch(/^__Host-troupe_session=[\w-]{43}; Path=\/; .*; Secure$/)
    const principal = await auth.credentials.dashboard(cookieValue(cookieOf(headers)), project)
    const out = await useCases['auth.logout'](callOf(principal, {}, {}, undefined))
    expect(cookieOf(out.headers)).toMatch(/^__Host-troupe_session=; Path=\/; Max-Age=0;.*; Secure$/)
  })

  it('ignores the case of the e-mail', async () => {
    const { useCases } = await openAccounts()
    await expect(useCases['auth.login'](loginOf(' Ada@Example.ORG ', ownerPassword))).resolves.toBeDefined()
  })

  it('returns the same error for a wrong password and an unknown e-mail', async () => {
    const { useCases } = await openAccounts()
    for (const call of [loginOf(ownerEmail, 'wrong'), loginOf('nobody@example.org', ownerPassword)])
      await expect(useCases['auth.login'](call)).rejects.toMatchObject({
        code: 'invalid_credentials',
        message: 'The e-mail address or the password is wrong.',
      })
  })

  it('is refused after ten failures from one address, even with the right password, and only from there', async () => {
    const { useCases } = await openAccounts()
    const login = useCases['auth.login']
    for (let n = 0; n < 10; n += 1) await expect(login(loginOf(ownerEmail, 'wrong'))).rejects.toBeDefined()
    await expect(login(loginOf(ownerEmail, ownerPassword))).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    await expect(login(loginOf(ownerEmail, ownerPassword, '10.0.0.2'))).resolves.toBeDefined()
  })

  it('is undone at once by a logout, which also clears the cookie', async () => {
    const { useCases, auth, project } = await openAccounts()
    const { headers } = await useCases['auth.login'](loginOf(ownerEmail, ownerPassword))
    const value = cookieValue(cookieOf(headers))
    const principal = await auth.credentials.dashboard(value, project)
    const out = await useCases['auth.logout'](callOf(principal, {}, {}, undefined))
    expect(cookieOf(out.headers)).toMatch(/^troupe_session=; Path=\/; Max-Age=0;/)
    await expect(auth.credentials.dashboard(value, project)).rejects.toMatchObject({ code: 'authentication_required' })
  })

  it('is followed by auth.me with the signed-in member', async () => {
    const { useCases, dashboard, owner } = await openAccounts()
    const { member } = await useCases['auth.me'](callOf(dashboard, {}, {}, undefined))
    expect(member).toEqual({ id: owner.id, email: ownerEmail, name: null, role: 'owner' })
  })
})
