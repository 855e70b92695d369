import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { addForeign, callOf, openAccounts, ownerEmail, ownerPassword } from '../account-harness.ts'
import { TestProvider } from './test-provider.ts'

const visitor: Principal = { kind: 'public' }
const verified = { email: 'bob@example.org', email_verified: true }

let provider: TestProvider
let guard: SsrfGuard

beforeAll(async () => {
  provider = await new TestProvider().listening()
  guard = openSsrfGuard({ allowedPrivateHosts: [provider.host] })
})
afterAll(async () => {
  await guard.close()
  await provider.close()
})
beforeEach(() => {
  provider.claims = verified
  provider.userinfo = {}
  provider.metadata = {}
  provider.forge = (token) => token
  provider.replies = {}
  provider.requests.length = 0
  provider.secrets.length = 0
})

const rules = {
  ...{ name: 'Acme', client_id: 'client', scopes: [], allowed_domains: ['example.org'], creates_members: true },
  ...{ role_claim: null, roles: {}, default_role: 'member' as const, is_active: true, client_secret: 'shh' },
}

const open = async (more: object = {}) => {
  const accounts = await openAccounts({ guard, now: Date.now() })
  const { useCases, dashboard, auth, project } = accounts
  const connection = await useCases['oidc_connections.create'](
    callOf(dashboard, {}, {}, { ...rules, issuer: provider.issuer, ...more }),
  )
  const start = async (id = connection.id) => {
    const { body, headers } = await useCases['oidc_sign_in.start'](callOf(visitor, {}, {}, { connection_id: id }))
    return { url: body.url, cookie: String(headers[0]?.[1]).split(';')[0] ?? '' }
  }
  const arrive = async (query: object, cookies: string, id = connection.id) => {
    const call = callOf(visitor, { oidc_connection_id: id }, query, undefined)
    const { bytes, headers = [] } = await useCases['oidc_sign_in.callback']({ ...call, cookies })
    const set = headers.filter(([name]) => name === 'set-cookie').map(([, value]) => value)
    const value = set.map((each) => /^troupe_session=([^;]*)/.exec(each)?.[1]).find(Boolean) ?? null
    return { page: String(bytes), value, set, headers }
  }
  const signIn = async () => {
    const { url, cookie } = await start()
    return arrive(provider.signIn(url), cookie)
  }
  const memberOf = async (value: string | null) => {
    const principal = await auth.credentials.dashboard(value ?? '', project)
    const { data } = await useCases['project_members.list'](
      callOf(dashboard, { project_id: project }, { limit: 100 }, undefined),
    )
    return data.find(({ id }) => principal.kind === 'dashboard' && id === principal.memberId)
  }
  const audited = async () => {
    const { data } = await useCases['audit_log.list'](callOf(accounts.secret, {}, { limit: 100 }, undefined))
    return data.map(({ action }) => action)
  }
  return { ...accounts, connection, start, arrive, signIn, memberOf, audited }
}

describe('a sign-in at a provider', () => {
  it('creates a member with a verified address of an allowed domain, and finds it again by its subject', async () => {
    const { signIn, memberOf, audited } = await open()
    const first = await signIn()
    const member = await memberOf(first.value)
    expect(member).toMatchObject({ email: 'bob@example.org', role: 'member', has_oidc: true })
    provider.claims = { email: 'renamed@elsewhere.example', email_verified: false }
    expect((await memberOf((await signIn()).value))?.id).toBe(member?.id)
    expect(await audited()).toEqual(
      expect.arrayContaining(['member.created', 'member.signed_in', 'oidc_connection.created']),
    )
  })

  it('uses PKCE, state and nonce, sends the secret to the token endpoint only, and leads nowhere else', async () => {
    const { start, arrive } = await open()
    const { url, cookie } = await start()
    const { searchParams } = new URL(url)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/)
    expect(cookie).not.toContain(searchParams.get('nonce'))
    const { headers, set } = await arrive(provider.signIn(url), cookie)
    expect(headers).toContainEqual(['refresh', '0; url=/'])
    expect(set.find((each) => each.startsWith('troupe_oidc_'))).toMatch(/=; Path=\/; Max-Age=0;/)
    expect(provider.secrets).toEqual([expect.stringMatching(/^Basic /)])
  })

  it('links an existing member by its verified address, and never by one that is not verified', async () => {
    const { signIn, memberOf, owner, audited } = await open()
    provider.claims = { email: ownerEmail, email_verified: false }
    expect((await signIn()).page).toContain('No member belongs to this account')
    provider.claims = { email: ownerEmail, email_verified: true }
    expect((await memberOf((await signIn()).value))?.id).toBe(owner.id)
    expect(await audited()).toContain('member.oidc_linked')
    provider.claims = { sub: 'sub-2', email: ownerEmail, email_verified: true }
    expect((await signIn()).page).toContain('linked to another account')
  })

  it('does not create members unless it is allowed to', async () => {
    const { signIn } = await open({ creates_members: false })
    expect(await signIn()).toMatchObject({ value: null, page: expect.stringContaining('No member belongs') })
  })

  it('reads what only the user information has, but not of another subject', async () => {
    const { signIn, memberOf } = await open()
    provider.claims = {}
    provider.userinfo = { ...verified, sub: 'sub-2' }
    expect((await signIn()).value).toBeNull()
    provider.userinfo = verified
    expect(await memberOf((await signIn()).value)).toMatchObject({ email: 'bob@example.org' })
  })

  it('sets the role by a claim at each sign-in, but the last owner stays one, in open sessions too', async () => {
    const { signIn, memberOf } = await open({ role_claim: 'groups', roles: { ops: 'admin' }, default_role: null })
    provider.claims = { ...verified, groups: ['ops'] }
    expect(await memberOf((await signIn()).value)).toMatchObject({ role: 'admin' })
    provider.claims = { ...verified, groups: [] }
    expect((await signIn()).page).toContain('no role')
    provider.claims = { sub: 'sub-owner', email: ownerEmail, email_verified: true, groups: ['ops'] }
    const { value } = await signIn()
    provider.claims = { ...provider.claims, groups: [] }
    expect((await signIn()).page).toContain('no role')
    expect(await memberOf(value)).toMatchObject({ role: 'owner' })
  })
})

describe('open sessions of a member whose role a claim gives', () => {
  const claimed = { role_claim: 'groups', roles: { ops: 'admin', staff: 'member' }, default_role: null }
  const inGroups = (...groups: readonly string[]) => {
    provider.claims = { ...verified, groups }
  }

  it('have the role of the last sign-in at once', async () => {
    const { signIn, auth } = await open(claimed)
    inGroups('ops')
    const first = (await signIn()).value ?? ''
    expect(await auth.dashboardSessions.verify(first)).toMatchObject({ role: 'admin' })
    inGroups('staff')
    await signIn()
    expect(await auth.dashboardSessions.verify(first)).toMatchObject({ role: 'member' })
  })

  it('end when a sign-in shows that the member has no role any more', async () => {
    const { signIn, auth, audited } = await open(claimed)
    inGroups('ops')
    const sessions = [(await signIn()).value ?? '', (await signIn()).value ?? '']
    for (const each of sessions) expect(await auth.dashboardSessions.verify(each)).not.toBeNull()
    inGroups()
    expect((await signIn()).page).toContain('no role')
    for (const each of sessions) expect(await auth.dashboardSessions.verify(each)).toBeNull()
    expect(await audited()).toContain('member.other_sessions_ended')
  })

  it.each([
    ['12 hours after their sign-in, however they are used', claimed, false],
    ['only without use where no claim gives the role', {}, true],
  ])('end %s', async (_when, rules, isOpen) => {
    const { signIn, auth, clock } = await open(rules)
    inGroups('ops')
    const value = (await signIn()).value ?? ''
    for (let hour = 0; hour < 12; hour++) {
      expect(await auth.dashboardSessions.verify(value)).not.toBeNull()
      clock.now += 3_600_000
    }
    expect((await auth.dashboardSessions.verify(value)) !== null).toBe(isOpen)
  })
})

describe('an attack on a sign-in at a provider', () => {
  it.each([
    ['an audience of others', async () => ({ aud: 'other' })],
    ['several audiences without a party', async () => ({ aud: ['client', 'other'] })],
    ['another party', async () => ({ aud: ['client', 'other'], azp: 'other' })],
    ['another issuer', async () => ({ iss: 'https://evil.example' })],
    ['an end in the past', async () => ({ exp: 1 })],
    ['another nonce', async () => ({ nonce: 'x' })],
    ['no nonce', async () => ({ nonce: undefined })],
  ])('fails with a token for %s', async (_, claims) => {
    const { signIn } = await open()
    provider.claims = { ...verified, ...(await claims()) }
    expect(await signIn()).toMatchObject({ value: null, page: expect.stringContaining('could not be verified') })
  })

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  it.each<[string, (token: string) => string | Promise<string>]>([
    ['alg none', (token) => `${part({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['the public key as a secret', async (token) => hmacOf(token, await provider.publicKeyText())],
    ['the client secret as a key', (token) => hmacOf(token, 'shh')],
    ['the key of a stranger', () => provider.sign(verified, { ofStranger: true })],
    [
      'a signature of other claims',
      (token) => [token.split('.')[0], part({ sub: 'x' }), token.split('.')[2]].join('.'),
    ],
    ['no signature', (token) => token.split('.').slice(0, 2).join('.')],
  ])('fails with a token that is signed by %s', async (_, forge) => {
    const { signIn } = await open()
    provider.forge = forge
    provider.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] }
    expect(await signIn()).toMatchObject({ value: null, page: expect.stringContaining('could not be verified') })
  })

  it('fails with a stolen state in another browser, an own cookie for another state, or a changed one', async () => {
    const { start, arrive } = await open()
    const [victim, own] = [await start(), await start()]
    const response = provider.signIn(victim.url)
    const name = victim.cookie.split('=')[0]
    for (const cookies of ['', own.cookie, `${name}=${own.cookie.split('=')[1]}`, `${victim.cookie}x`, `${name}=%`])
      expect(await arrive(response, cookies)).toMatchObject({
        value: null,
        page: expect.stringContaining('not started'),
      })
    expect(provider.requests).not.toContain('/token')
  })

  it('fails with a code that was used, or is of another sign-in', async () => {
    const { start, arrive } = await open()
    const { url, cookie } = await start()
    const response = provider.signIn(url)
    expect((await arrive(response, cookie)).value).not.toBeNull()
    expect((await arrive(response, cookie)).value).toBeNull()
    const next = await start()
    const { code } = provider.signIn(url)
    expect((await arrive({ ...provider.signIn(next.url), code }, next.cookie)).value).toBeNull()
  })

  it('fails at the redirect URI of another connection, from another issuer, or after the issuer was replaced', async () => {
    const { start, arrive, connection, useCases, dashboard } = await open()
    const other = await useCases['oidc_connections.create'](
      callOf(dashboard, {}, {}, { ...rules, issuer: provider.issuer }),
    )
    const { url, cookie } = await start()
    expect((await arrive(provider.signIn(url), cookie, other.id)).value).toBeNull()
    expect((await arrive(provider.signIn(url, { iss: 'https://evil.example' }), cookie)).value).toBeNull()
    const set = { oidc_connection_id: connection.id }
    const moved = await useCases['oidc_connections.update'](
      callOf(dashboard, set, {}, { issuer: `${provider.issuer}/x` }),
    )
    expect(moved.has_client_secret).toBe(false)
    expect((await arrive(provider.signIn(url), cookie)).page).toContain('not started')
  })

  it('reaches no private address, and only web addresses lead the browser away', async () => {
    const inner = await open({ issuer: 'http://127.0.0.1:1' })
    await expect(inner.start()).rejects.toMatchObject({ code: 'oidc_provider_unavailable' })
    for (const metadata of [
      { issuer: 'https://evil.example' },
      { authorization_endpoint: 'javascript:alert(1)' },
      { authorization_endpoint: 'http://evil.example/auth' },
    ]) {
      provider.metadata = metadata
      await expect((await open()).start()).rejects.toMatchObject({ code: 'oidc_provider_unavailable' })
    }
    provider.metadata = { token_endpoint: 'http://127.0.0.1:1/token' }
    expect((await (await open()).signIn()).value).toBeNull()
  })

  it.each([
    [
      '/jwks',
      `{"keys":[${Array(3000)
        .fill(`{"kty":"RSA","n":"${'A'.repeat(300)}","e":"AQAB"}`)
        .join()}]}`,
    ],
    ['/jwks', '{"keys":[{"kty":"oct","k":"c2ho","kid":"k","alg":"RS256"}]}'],
    ['/jwks', `{"keys":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['/token', 'not json'],
    ['/token', '{"access_token":"at","token_type":"Bearer"}'],
  ])('fails with the answer of %s: %.60s', async (path, reply) => {
    const { signIn } = await open()
    provider.replies = { [path]: reply }
    expect(await signIn()).toMatchObject({ value: null, page: expect.stringContaining('could not be verified') })
  })

  it('shows neither the words of a provider nor the reason of a failure as markup', async () => {
    const { start, arrive } = await open()
    const { url, cookie } = await start()
    const { state } = provider.signIn(url)
    const { page, headers } = await arrive({ state, error: '<script>', error_description: '<img>' }, cookie)
    expect(page).not.toMatch(/<script|<img/)
    expect(headers.find(([name]) => name === 'content-security-policy')?.[1]).toContain("default-src 'none'")
  })
})

describe('an account at a provider', () => {
  const linked = async () => {
    const accounts = await open({ allowed_domains: [], creates_members: false })
    const { useCases, auth, project, connection } = accounts
    const login = async () => {
      const { headers } = await useCases['auth.login'](
        callOf(visitor, {}, {}, { email: ownerEmail, password: ownerPassword }),
      )
      const value = /session=([^;]*)/.exec(String(headers[0]?.[1]))?.[1] ?? ''
      return { value, principal: await auth.credentials.dashboard(value, project) }
    }
    const begin = async (principal: Principal) => {
      const { body, headers } = await useCases['oidc_sign_in.link'](
        callOf(principal, {}, {}, { connection_id: connection.id }),
      )
      return { url: body.url, cookie: String(headers[0]?.[1]).split(';')[0] ?? '' }
    }
    return { ...accounts, login, begin }
  }

  it('is linked by the signed-in member in the same session, and signs in from then on', async () => {
    const { login, begin, arrive, signIn, memberOf, owner } = await linked()
    provider.claims = { email: 'any@where.example', email_verified: false }
    const { value, principal } = await login()
    const { url, cookie } = await begin(principal)
    const response = provider.signIn(url)
    for (const cookies of [cookie, `${cookie}; troupe_session=${(await login()).value}`])
      expect((await arrive(response, cookies)).page).toContain('has ended')
    const again = await begin(principal)
    const done = await arrive(provider.signIn(again.url), `troupe_session=${value}; ${again.cookie}`)
    expect(done.page).toContain('Signed in')
    expect((await memberOf((await signIn()).value))?.id).toBe(owner.id)
  })

  it('of another organisation is not found, changed, listed or linked', async () => {
    const accounts = await linked()
    const { useCases, connection, begin } = accounts
    const foreign = await addForeign(accounts)
    const params = { oidc_connection_id: connection.id }
    const list = callOf(foreign.dashboard, {}, { limit: 100 }, undefined)
    expect((await useCases['oidc_connections.list'](list)).data).toEqual([])
    for (const refused of [
      useCases['oidc_connections.update'](callOf(foreign.dashboard, params, {}, { name: 'x' })),
      useCases['oidc_connections.delete'](callOf(foreign.dashboard, params, {}, undefined)),
      begin(foreign.dashboard),
    ])
      await expect(refused).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is offered while its connection is active, and ends its sessions with that and with the link', async () => {
    const { useCases, dashboard, project, signIn, auth, connection, memberOf } = await open()
    const { value } = await signIn()
    const isOpen = async (each: string | null) => (await auth.dashboardSessions.verify(each ?? '')) !== null
    const set = (is_active: boolean) =>
      useCases['oidc_connections.update'](callOf(dashboard, { oidc_connection_id: connection.id }, {}, { is_active }))
    const offered = async () =>
      (await useCases['oidc_sign_in.providers'](callOf(visitor, {}, {}, undefined))).data.map(({ name }) => name)
    expect([await isOpen(value), await offered()]).toEqual([true, ['Acme']])
    await set(false)
    expect(await offered()).toEqual([])
    expect(await isOpen(value)).toBe(false)
    await set(true)
    expect(await isOpen(value)).toBe(true)
    const params = { project_id: project, member_id: (await memberOf(value))?.id ?? '' }
    expect(await useCases['project_members.unlink_oidc'](callOf(dashboard, params, {}, undefined))).toMatchObject({
      has_oidc: false,
    })
    expect(await isOpen(value)).toBe(false)
    const next = await signIn()
    await useCases['oidc_connections.delete'](callOf(dashboard, { oidc_connection_id: connection.id }, {}, undefined))
    expect(await isOpen(next.value)).toBe(false)
  })

  it('is the only way to sign in for all but owners, when the organisation requires it', async () => {
    const { useCases, dashboard, organization, project, auth, connection } = await open()
    const eve = { email: 'eve@example.com', password: ownerPassword }
    await useCases['project_members.create'](
      callOf(dashboard, { project_id: project }, {}, { ...eve, role: 'admin' as const }),
    )
    const login = (given: object) => useCases['auth.login'](callOf(visitor, {}, {}, { ...eve, ...given }))
    const value = /session=([^;]*)/.exec(String((await login({})).headers[0]?.[1]))?.[1] ?? ''
    expect(await auth.dashboardSessions.verify(value)).not.toBeNull()
    const set = callOf(dashboard, { organization_id: organization }, {}, { require_oidc: true })
    expect(await useCases['organizations.update'](set)).toMatchObject({ require_oidc: true })
    expect(await auth.dashboardSessions.verify(value)).toBeNull()
    await expect(login({})).rejects.toMatchObject({ code: 'oidc_sign_in_required' })
    await expect(login({ password: 'wrong' })).rejects.toMatchObject({ code: 'invalid_credentials' })
    await expect(login({ email: ownerEmail })).resolves.toBeDefined()
    const last = callOf(dashboard, { oidc_connection_id: connection.id }, {}, undefined)
    await expect(useCases['oidc_connections.delete'](last)).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('has no password: none signs it in', async () => {
    const { useCases, signIn } = await open()
    await signIn()
    for (const password of ['', ' ', 'x']) {
      const login = useCases['auth.login'](callOf(visitor, {}, {}, { email: 'bob@example.org', password }))
      await expect(login).rejects.toMatchObject({ code: 'invalid_credentials' })
    }
  })
})

const hmacOf = async (token: string, secret: string): Promise<string> => {
  const { SignJWT, decodeJwt } = await import('jose')
  return new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'HS256', kid: 'k' })
    .sign(new TextEncoder().encode(secret.padEnd(32)))
}
