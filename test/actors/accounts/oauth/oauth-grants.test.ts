import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { oauthGrants as kind } from '#actors/accounts/oauth/kinds.ts'
import { accessTokenS } from '#actors/accounts/oauth/oauth-grants.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf, openAccounts } from '../account-harness.ts'

const verifier = 'a-verifier-of-sufficient-length-for-pkce-0123'
const code_challenge = createHash('sha256').update(verifier).digest('base64url')
const redirect_uri = 'http://127.0.0.1:7777/cb'
const origin = 'http://127.0.0.1:8080'

const open = async () => {
  const accounts = await openAccounts()
  const { auth, dashboard, oauthClients, project, records, useCases } = accounts
  const client = await oauthClients.register({ client_name: 'App', redirect_uris: ['http://127.0.0.1/cb'] }, '1.1.1.1')
  const request = { response_type: 'code', client_id: client.id, redirect_uri, code_challenge, state: 's', origin }
  const params = { ...request, code_challenge_method: 'S256', resource: `${origin}/mcp` }
  const consent = async (changed: object = {}, by = dashboard) => {
    const body = { ...params, decision: 'approve' as const, ...changed }
    const { redirect_to } = await useCases['oauth_consents.create'](callOf(by, {}, {}, body))
    return new URL(redirect_to)
  }
  const codeOf = async (changed: object = {}, by = dashboard) =>
    (await consent(changed, by)).searchParams.get('code') ?? ''
  const exchange = (token: string, changed: object = {}) =>
    auth.oauthGrants.exchange({
      ...{ token, clientId: client.id, redirectUri: redirect_uri, verifier, resource: `${origin}/mcp`, ...changed },
    })
  const refresh = (token: string, clientId = client.id) =>
    auth.oauthGrants.refresh({ token, clientId, resource: undefined })
  const rows = () => records.list(kind, projectScope(project), { limit: 100 })
  return { ...accounts, client, params, consent, codeOf, exchange, refresh, rows }
}

const invalid = { code: 'invalid_grant' }

describe('a consent', () => {
  // none of the refused ones leaves anything behind
  let shared: Awaited<ReturnType<typeof open>>

  beforeAll(async () => {
    shared = await open()
  })

  it('sends the app a code, the state and the issuer, and stores hashes only', async () => {
    const { consent, rows } = await open()
    const url = await consent({ scope: 'read write' })
    expect(url.origin).toBe('http://127.0.0.1:7777')
    expect([...url.searchParams.keys()]).toEqual(['code', 'state', 'iss'])
    expect([url.searchParams.get('state'), url.searchParams.get('iss')]).toEqual(['s', origin])
    const code = url.searchParams.get('code') ?? '?'
    expect(JSON.stringify(await rows())).not.toContain(code.slice(4, 26))
  })

  it('that is run again after a crash makes one grant, and returns the code of the first', async () => {
    const { params, dashboard, useCases, rows, exchange, records } = await open()
    const body = { ...params, decision: 'approve' as const }
    const idempotency = { cause: 'c', fingerprint: 'f', seed: '01kdvdna3xkma5cg25ahrsmfte' }
    const granted = () => useCases['oauth_consents.create']({ ...callOf(dashboard, {}, {}, body), idempotency })
    const [first, again] = [await granted(), await granted()]
    expect(again).toEqual(first)
    const [row, ...others] = await rows()
    expect([row?.id, others]).toEqual([`ogr_${idempotency.seed}`, []])
    const code = new URL(again.redirect_to).searchParams.get('code') ?? ''
    expect(JSON.stringify(await records.list(kind, projectScope(row?.project ?? ''), { limit: 9 }))).not.toContain(code)
    expect((await exchange(code)).accessToken).toMatch(/^oat_/)
  })

  it('that is denied sends the app nothing but that', async () => {
    const { consent, rows } = await open()
    const url = await consent({ decision: 'deny' })
    expect([url.searchParams.get('error'), url.searchParams.get('code')]).toEqual(['access_denied', null])
    expect(await rows()).toEqual([])
  })

  it.each([
    ['no PKCE', { code_challenge: '' }, 'invalid_request'],
    ['the plain method', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method, which means plain', { code_challenge_method: '' }, 'invalid_request'],
    ['a challenge of another length', { code_challenge: 'short' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['another path of this server', { resource: `${origin}/v1` }, 'invalid_target'],
    ['an unknown scope', { scope: 'read everything' }, 'invalid_scope'],
    ['the scope of credentials', { scope: 'keys' }, 'invalid_scope'],
  ])('is not possible with %s, which the app is sent', async (_what, changed, code) => {
    const { consent, params, rows, useCases, dashboard } = shared
    const url = await consent(changed)
    expect([url.searchParams.get('error'), url.searchParams.get('iss')]).toEqual([code, origin])
    expect(await rows()).toEqual([])
    const shown = await useCases['oauth_consents.preview'](callOf(dashboard, {}, {}, { ...params, ...changed }))
    expect(shown).toMatchObject({ error: { code }, scopes: [], redirect_to: expect.stringContaining('127.0.0.1:7777') })
  })

  it.each([
    ['a redirect URI of someone else', { redirect_uri: 'https://evil.example/cb' }, 'redirect_uri'],
    ['none', { redirect_uri: '' }, 'redirect_uri'],
    ['an unknown app', { client_id: 'ocl_00000000000000000000000000' }, 'client_id'],
    ['no app', { client_id: '' }, 'client_id'],
  ])('leads nowhere with %s', async (_what, changed, param) => {
    const { consent, params, useCases, dashboard } = shared
    const refused = { code: 'invalid_field', details: { param } }
    await expect(consent(changed)).rejects.toMatchObject(refused)
    const body = { ...params, ...changed }
    await expect(useCases['oauth_consents.preview'](callOf(dashboard, {}, {}, body))).rejects.toMatchObject(refused)
  })

  it('shows who requests what, and where the member is sent back to', async () => {
    const { params, useCases, dashboard, client } = await open()
    const body = { ...params, scope: 'sessions:read openid memory sessions:read' }
    expect(await useCases['oauth_consents.preview'](callOf(dashboard, {}, {}, body))).toEqual({
      client: { id: client.id, name: 'App', host: null, redirect: '127.0.0.1:7777' },
      scopes: ['sessions:read', 'memory'],
      error: null,
      redirect_to: null,
    })
  })
})

describe('a code', () => {
  it('is exchanged for tokens of the project, with the scopes and the role of the member', async () => {
    const { auth, codeOf, exchange, owner, project, records } = await open()
    const { accessToken, refreshToken, scopes } = await exchange(await codeOf({ scope: 'sessions:read' }))
    expect(scopes).toEqual(['sessions:read'])
    const [row] = await records.list(kind, projectScope(project), { limit: 1 })
    expect(await auth.oauthGrants.verify(accessToken)).toEqual({
      ...{ kind: 'secret_key', project, keyId: row?.id },
      limits: { models: null, tenants: null, operations: new Set(['sessions:read']) },
      grant: { memberId: owner.id, role: 'owner', resource: `${origin}/mcp` },
    })
    expect(await auth.oauthGrants.verify(refreshToken)).toBeNull()
    const stored = JSON.stringify(row)
    for (const token of [accessToken, refreshToken]) expect(stored).not.toContain(token.slice(4, 26))
  })

  it.each([
    ['another verifier', { verifier: `${verifier}x` }],
    ['no verifier', { verifier: '' }],
    ['the challenge as verifier', { verifier: code_challenge }],
    ['another app', { clientId: 'ocl_00000000000000000000000000' }],
    ['another redirect URI', { redirectUri: 'http://127.0.0.1:7778/cb' }],
  ])('is worthless after an attempt with %s', async (_what, changed) => {
    const { codeOf, exchange, rows } = await open()
    const code = await codeOf()
    await expect(exchange(code, changed)).rejects.toMatchObject(invalid)
    await expect(exchange(code)).rejects.toMatchObject(invalid)
    expect(await rows()).toEqual([])
  })

  it('that is used twice ends the tokens of its first use', async () => {
    const { auth, codeOf, exchange } = await open()
    const code = await codeOf()
    const { accessToken } = await exchange(code)
    expect(await auth.oauthGrants.verify(accessToken)).not.toBeNull()
    await expect(exchange(code)).rejects.toMatchObject(invalid)
    expect(await auth.oauthGrants.verify(accessToken)).toBeNull()
  })

  it('is exchanged by one of many requests at most, and then by none', async () => {
    const { codeOf, exchange, rows } = await open()
    const code = await codeOf()
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => exchange(code)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1)
    expect(await rows()).toEqual([])
  })

  it('expires after a minute', async () => {
    const { clock, codeOf, exchange } = await open()
    const code = await codeOf()
    clock.now += 60_000
    await expect(exchange(code)).rejects.toMatchObject(invalid)
  })

  it('is not exchanged for another resource', async () => {
    const { codeOf, exchange } = await open()
    const resource = 'https://other.example/mcp'
    await expect(exchange(await codeOf(), { resource })).rejects.toMatchObject({ code: 'invalid_target' })
  })
})

describe('a refresh token', () => {
  it('is replaced at each use, while the former access token works to its end', async () => {
    const { auth, clock, codeOf, exchange, refresh } = await open()
    const first = await exchange(await codeOf())
    const second = await refresh(first.refreshToken)
    const works = async (token: string) => (await auth.oauthGrants.verify(token)) !== null
    expect([await works(first.accessToken), await works(second.accessToken)]).toEqual([true, true])
    clock.now += accessTokenS * 1000
    expect([await works(first.accessToken), await works(second.accessToken)]).toEqual([false, false])
    expect(await works((await refresh(second.refreshToken)).accessToken)).toBe(true)
  })

  it('that was replaced ends the grant when it is presented again', async () => {
    const { auth, codeOf, exchange, refresh, rows } = await open()
    const first = await exchange(await codeOf())
    const second = await refresh(first.refreshToken)
    await expect(refresh(first.refreshToken)).rejects.toMatchObject(invalid)
    await expect(refresh(second.refreshToken)).rejects.toMatchObject(invalid)
    expect(await auth.oauthGrants.verify(second.accessToken)).toBeNull()
    expect(await rows()).toEqual([])
  })

  it('is refused from another app, and expires 30 days after its last use', async () => {
    const { clock, codeOf, exchange, refresh } = await open()
    const { refreshToken } = await exchange(await codeOf())
    clock.now += 30 * 24 * 3_600_000
    await expect(refresh(refreshToken)).rejects.toMatchObject(invalid)
    const other = await exchange(await codeOf())
    await expect(refresh(other.refreshToken, 'https://evil.example/c')).rejects.toMatchObject(invalid)
  })

  it.each(['access token', 'code'])('is not replaced by an %s', async (what) => {
    const { codeOf, exchange, refresh } = await open()
    const code = await codeOf()
    const { accessToken } = await exchange(code)
    await expect(refresh(what === 'code' ? code : accessToken)).rejects.toMatchObject(invalid)
  })
})

describe('a grant', () => {
  it('ends with its member, and has the role that the member has now', async () => {
    const { auth, clock, codeOf, dashboard, exchange, project, refresh, useCases } = await open()
    const member = { email: 'bo@example.org', name: null, role: 'admin' as const, password: 'a long password' }
    const made = await useCases['project_members.create'](callOf(dashboard, { project_id: project }, {}, member))
    const { accessToken, refreshToken } = await exchange(await codeOf({}, { ...dashboard, memberId: made.id }))
    const place = { project_id: project, member_id: made.id }
    await useCases['project_members.update'](callOf(dashboard, place, {}, { role: 'member' }))
    clock.now += 1000
    expect(await auth.oauthGrants.verify(accessToken)).toMatchObject({ grant: { role: 'member' } })
    await useCases['project_members.delete'](callOf(dashboard, place, {}, undefined))
    clock.now += 1000
    expect(await auth.oauthGrants.verify(accessToken)).toBeNull()
    await expect(refresh(refreshToken)).rejects.toMatchObject(invalid)
  })

  it('is listed and revoked in its project, by its member or an admin', async () => {
    const { auth, codeOf, dashboard, exchange, project, useCases } = await open()
    const { accessToken } = await exchange(await codeOf({ scope: 'read' }))
    await auth.oauthGrants.verify(accessToken)
    const listed = await useCases['oauth_grants.list'](
      callOf(dashboard, { project_id: project }, { limit: 20 }, undefined),
    )
    expect(listed.data).toMatchObject([{ client_name: 'App', scopes: ['read'], member_id: dashboard.memberId }])
    expect(JSON.stringify(listed)).not.toMatch(/family|hash|challenge|refresh/)
    const revoke = (by: object) => {
      const params = { project_id: project, grant_id: listed.data[0]?.id ?? '' }
      return useCases['oauth_grants.delete'](callOf({ ...dashboard, ...by }, params, {}, undefined))
    }
    await expect(revoke({ memberId: 'usr_other', role: 'approver' })).rejects.toMatchObject({ code: 'forbidden' })
    await revoke({ memberId: 'usr_other', role: 'admin' })
    expect(await auth.oauthGrants.verify(accessToken)).toBeNull()
    await expect(revoke({})).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is revoked by either of its tokens, from its own app only', async () => {
    const { auth, client, codeOf, exchange, rows } = await open()
    const { accessToken, refreshToken } = await exchange(await codeOf())
    await auth.oauthGrants.revoke(refreshToken, 'https://evil.example/c')
    await auth.oauthGrants.revoke(`ort_${refreshToken.slice(4, 26)}${'x'.repeat(43)}`, client.id)
    expect(await rows()).toHaveLength(1)
    await auth.oauthGrants.revoke(accessToken, client.id)
    expect(await rows()).toEqual([])
    const again = await exchange(await codeOf())
    await auth.oauthGrants.revoke(again.refreshToken, client.id)
    expect(await auth.oauthGrants.verify(again.accessToken)).toBeNull()
  })
})
