import { describe, expect, it } from 'vitest'
import { resetOwner } from '#actors/accounts/reset-owner.ts'
import { codeAt, stepMs } from '#actors/accounts/sign-in/totp.ts'
import type { Principal } from '#actors/call/call.ts'
import { organizationScope } from '#storage/scope.ts'
import { addForeign, callOf, openAccounts, ownerEmail, ownerPassword } from '../account-harness.ts'

const visitor: Principal = { kind: 'public' }

/** An installation whose owner has a second factor. `next` is a code that is valid and was not used. */
const open = async () => {
  const accounts = await openAccounts()
  const { useCases, dashboard, clock } = accounts
  const offered = await useCases['second_factor.enrol'](callOf(dashboard, {}, {}, { password: ownerPassword }))
  const key = keyOf(offered.secret)
  const next = () => {
    clock.now += stepMs
    return codeAt(key, Math.floor(clock.now / stepMs))
  }
  const { recovery_codes: recovery } = await useCases['second_factor.confirm'](
    callOf(dashboard, {}, {}, { code: next() }),
  )
  const loginOf = (code?: string, address = '10.0.0.1') =>
    callOf(
      visitor,
      {},
      {},
      { email: ownerEmail, password: ownerPassword, ...(code !== undefined && { code }) },
      address,
    )
  const audited = async () => {
    const { data } = await useCases['audit_log.list'](callOf(accounts.secret, {}, { limit: 100 }, undefined))
    return data.map(({ action }) => action)
  }
  const wrong = () => (next() === '000000' ? '000001' : '000000')
  return { ...accounts, offered, recovery, next, wrong, loginOf, audited, login: useCases['auth.login'] }
}

const keyOf = (secret: string): Buffer => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const outcomes = async (attempts: readonly Promise<unknown>[]) => {
  const settled = await Promise.allSettled(attempts)
  const right = settled.filter(({ status }) => status === 'fulfilled').length
  const codes = settled.flatMap((each) => (each.status === 'rejected' ? [String(each.reason.code)] : []))
  return { right, codes }
}

describe('a second factor', () => {
  it('is required with the password once it is confirmed, and shown as a QR code without scripts or styles', async () => {
    const { login, loginOf, next, offered } = await open()
    expect(offered.uri).toContain(`secret=${offered.secret}`)
    expect(offered.qr).toMatch(/^<svg [^>]*viewBox/)
    expect(offered.qr).not.toMatch(/style|script|href/)
    await expect(login(loginOf())).rejects.toMatchObject({ code: 'second_factor_required' })
    await expect(login(loginOf(next()))).resolves.toBeDefined()
  })

  it('is not revealed, and its code not used, by a wrong password', async () => {
    const { login, next } = await open()
    const code = next()
    const attempt = callOf(visitor, {}, {}, { email: ownerEmail, password: 'wrong', code })
    await expect(login(attempt)).rejects.toMatchObject({ code: 'invalid_credentials', details: {} })
    const right = callOf(visitor, {}, {}, { email: ownerEmail, password: ownerPassword, code })
    await expect(login(right)).resolves.toBeDefined()
  })

  it('accepts no code twice, and none that is older than one that was used', async () => {
    const { login, loginOf, next } = await open()
    const older = next()
    const code = next()
    await login(loginOf(code))
    for (const used of [code, older])
      await expect(login(loginOf(used))).rejects.toMatchObject({
        code: 'invalid_credentials',
        details: { param: 'code' },
      })
  })

  it('is sealed in the store, and its recovery codes are hashed', async () => {
    const { memberTable, organization, owner, offered, recovery } = await open()
    const row = JSON.stringify(await memberTable.get(organizationScope(organization), owner.id))
    for (const secret of [offered.secret, ...recovery, ...recovery.map((each) => each.replaceAll('-', ''))])
      expect(row).not.toContain(secret)
  })

  it('accepts one of equal codes that are sent at once to two nodes', async () => {
    const { login, loginOf, next, otherNode } = await open()
    const code = next()
    const other = otherNode().useCases['auth.login']
    const attempts = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? login : other)(loginOf(code, `10.0.1.${n}`)))
    expect(await outcomes(attempts)).toEqual({ right: 1, codes: Array(7).fill('invalid_credentials') })
  })

  it('accepts a recovery code in place of a code, once even if it is sent at once to two nodes', async () => {
    const { login, loginOf, recovery, otherNode, useCases, dashboard, audited } = await open()
    expect(recovery).toHaveLength(10)
    expect(new Set(recovery).size).toBe(10)
    const other = otherNode().useCases['auth.login']
    const code = ` ${recovery[3]?.toUpperCase().replaceAll('-', ' ')}`
    const attempts = Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? login : other)(loginOf(code, `10.0.1.${n}`)))
    expect((await outcomes(attempts)).right).toBe(1)
    const state = await useCases['second_factor.get'](callOf(dashboard, {}, {}, undefined))
    expect(state).toMatchObject({ enabled: true, recovery_codes_left: 9 })
    expect(await audited()).toContain('member.recovery_code_used')
  })

  it('accepts ten wrong codes in 15 minutes over all addresses and nodes at once, and then not even a right one', async () => {
    const { login, loginOf, next, wrong, otherNode, clock, audited } = await open()
    const other = otherNode().useCases['auth.login']
    const code = wrong()
    const attempts = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? login : other)(loginOf(code, `10.0.2.${n}`)))
    const { right, codes } = await outcomes(attempts)
    expect(right).toBe(0)
    expect(codes.filter((each) => each === 'invalid_credentials')).toHaveLength(10)
    expect(codes.filter((each) => each === 'rate_limit_exceeded')).toHaveLength(30)
    await expect(login(loginOf(next(), '10.0.3.1'))).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    expect((await audited()).filter((each) => each === 'member.second_factor_blocked')).toHaveLength(1)
    clock.now += 15 * 60_000
    await expect(login(loginOf(next(), '10.0.3.1'))).resolves.toBeDefined()
  })

  it('is disabled with the password and a code only', async () => {
    const { useCases, dashboard, next, wrong, login, loginOf, audited } = await open()
    const disable = (password: string, code: string) =>
      useCases['second_factor.disable'](callOf(dashboard, {}, {}, { password, code }))
    await expect(disable('wrong', next())).rejects.toMatchObject({ details: { param: 'password' } })
    await expect(disable(ownerPassword, wrong())).rejects.toMatchObject({ details: { param: 'code' } })
    expect(await disable(ownerPassword, next())).toMatchObject({ enabled: false, recovery_codes_left: 0 })
    await expect(login(loginOf())).resolves.toBeDefined()
    expect(await audited()).toEqual(
      expect.arrayContaining(['member.second_factor_enabled', 'member.second_factor_disabled']),
    )
  })

  it('is set up with the password, confirmed within ten minutes, and not replaced while it is in use', async () => {
    const { useCases, dashboard, clock } = await openAccounts()
    const enrol = (password: string) => useCases['second_factor.enrol'](callOf(dashboard, {}, {}, { password }))
    const confirm = (code: string) => useCases['second_factor.confirm'](callOf(dashboard, {}, {}, { code }))
    await expect(enrol('wrong')).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(confirm('123456')).rejects.toMatchObject({ code: 'invalid_transition' })
    const { secret } = await enrol(ownerPassword)
    clock.now += 10 * 60_000
    const now = () => codeAt(keyOf(secret), Math.floor(clock.now / stepMs))
    await expect(confirm(now())).rejects.toMatchObject({ code: 'invalid_transition' })
    const used = await open()
    const again = used.useCases['second_factor.enrol'](callOf(used.dashboard, {}, {}, { password: ownerPassword }))
    await expect(again).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('has new recovery codes for a code, after which the earlier ones are invalid', async () => {
    const { useCases, dashboard, recovery, next, login, loginOf } = await open()
    const { recovery_codes } = await useCases['second_factor.recovery_codes'](
      callOf(dashboard, {}, {}, { code: next() }),
    )
    await expect(login(loginOf(recovery[0]))).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(login(loginOf(recovery_codes[0]))).resolves.toBeDefined()
  })

  it('stays when an operator or an owner sets another password, and is removed by an owner only', async () => {
    const accounts = await open()
    const { useCases, dashboard, project, owner, records, now, auth, login, next, audited } = accounts
    const deps = { records, now, dashboardSessions: auth.dashboardSessions }
    const password = await resetOwner(deps, ownerEmail)
    const loginOf = (code?: string) =>
      callOf(visitor, {}, {}, { email: ownerEmail, password: password ?? '', ...(code !== undefined && { code }) })
    await expect(login(loginOf())).rejects.toMatchObject({ code: 'second_factor_required' })
    await expect(login(loginOf(next()))).resolves.toBeDefined()
    const params = { project_id: project, member_id: owner.id }
    const foreign = await addForeign(accounts)
    const reset = useCases['project_members.reset_second_factor']
    await expect(reset(callOf(foreign.dashboard, params, {}, undefined))).rejects.toMatchObject({ code: 'not_found' })
    expect(await reset(callOf(dashboard, params, {}, undefined))).toMatchObject({ has_second_factor: false })
    await expect(login(loginOf())).resolves.toBeDefined()
    expect(await audited()).toContain('member.second_factor_reset')
  })

  it('is removed with the password of an owner who has lost everything, by an operator who requests it', async () => {
    const { records, now, auth, login } = await open()
    const deps = { records, now, dashboardSessions: auth.dashboardSessions }
    const password = (await resetOwner(deps, ownerEmail, { removesSecondFactor: true })) ?? ''
    await expect(login(callOf(visitor, {}, {}, { email: ownerEmail, password }))).resolves.toBeDefined()
  })
})

describe('an organisation that requires second factors', () => {
  it('is set so only by a member that has one, and then refuses to disable it', async () => {
    const { useCases, dashboard, organization, next } = await open()
    const set = { organization_id: organization }
    const update = useCases['organizations.update']
    expect(await update(callOf(dashboard, set, {}, { require_second_factor: true }))).toMatchObject({
      require_second_factor: true,
    })
    const disable = callOf(dashboard, {}, {}, { password: ownerPassword, code: next() })
    await expect(useCases['second_factor.disable'](disable)).rejects.toMatchObject({ code: 'invalid_transition' })
    const bare = await openAccounts()
    const refused = callOf(bare.dashboard, { organization_id: bare.organization }, {}, { require_second_factor: true })
    await expect(bare.useCases['organizations.update'](refused)).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('lets a member without one only set it up, in every session, and is not that of another organisation', async () => {
    const accounts = await open()
    const { useCases, dashboard, organization, project, auth, clock } = accounts
    const bob = { email: 'bob@example.org', password: ownerPassword }
    const made = callOf(dashboard, { project_id: project }, {}, { ...bob, role: 'admin' as const })
    await useCases['project_members.create'](made)
    const { headers } = await useCases['auth.login'](callOf(visitor, {}, {}, bob))
    const value = /session=([^;]*)/.exec(String(headers[0]?.[1]))?.[1] ?? ''
    expect(await auth.credentials.dashboard(value, project)).not.toHaveProperty('mustEnrol')
    const foreign = await addForeign(accounts)
    const update = useCases['organizations.update']
    const body = { require_second_factor: true }
    const params = { organization_id: organization }
    await expect(update(callOf(foreign.dashboard, params, {}, body))).rejects.toBeDefined()
    await update(callOf(dashboard, params, {}, body))
    const bound = await auth.credentials.dashboard(value, project)
    expect(bound).toMatchObject({ mustEnrol: true })
    const { secret } = await useCases['second_factor.enrol'](callOf(bound, {}, {}, { password: ownerPassword }))
    const code = codeAt(keyOf(secret), Math.floor(clock.now / stepMs))
    await useCases['second_factor.confirm'](callOf(bound, {}, {}, { code }))
    expect(await auth.credentials.dashboard(value, project)).not.toHaveProperty('mustEnrol')
  })
})
