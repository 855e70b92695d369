import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

describe('connections', () => {
  let world: World
  let provider: OAuthProvider
  let other: OAuthProvider
  let tenant: string
  let foreign: string
  const heard: { readonly type: string; readonly data: { readonly connection_id: string } }[] = []
  const hook = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      heard.push(JSON.parse(text))
      response.end()
    })
  })

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    other = await OAuthProvider.listen()
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    const { port }: AddressInfo = Object(hook.address())
    const hosts = [provider.host, other.host, `127.0.0.1:${port}`]
    world = await World.start({ env: { ...provider.env, ALLOWED_PRIVATE_HOSTS: hosts.join(',') } })
    provider.register(world.url)
    other.register(world.url)
    tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    foreign = (await world.api.post('/v1/tenants', { external_id: 'umbrella', name: 'Umbrella' })).body.id
    const events = ['connection.expired', 'connection.recovered']
    await world.api.post('/v1/webhooks', { name: 'c', url: `http://127.0.0.1:${port}/`, events })
  })
  afterAll(async () => {
    await world.stop()
    await provider.stop()
    await other.stop()
    await new Promise((resolve) => hook.close(resolve))
  })
  afterEach(() => {
    provider.failing = null
    provider.held = null
    provider.live(3600)
  })

  const create = async (body: object = {}, from = provider) => {
    const made = await world.api.post('/v1/connections', { connector: 'oauth2', config: from.config(), ...body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }
  const authorizeUrl = async (id: string, body: object = {}): Promise<string> => {
    const answer = await world.api.post(`/v1/connections/${id}/authorize`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.authorize_url
  }
  /** Where the provider has its part of a sign-in, as the browser is led there. */
  const providerUrl = async (id: string, browser = new Browser()): Promise<URL> =>
    new URL((await browser.open(await authorizeUrl(id))).location ?? '')
  const get = async (id: string) => (await world.api.get(`/v1/connections/${id}`)).body
  const connected = async (body: object = {}, user = 'ann') => {
    const { id } = await create(body)
    const page = await new Browser().connect(await authorizeUrl(id), user)
    expect(page.text).toContain('<h1>Connected</h1>')
    return id
  }
  const refresh = (id: string) => world.api.post(`/v1/connections/${id}/refresh`, {})
  const test = async (id: string) => (await world.api.post(`/v1/connections/${id}/test`, {})).body

  it('become active when their owner has signed in, and a test shows that they work', async () => {
    const id = await connected()
    expect(await get(id)).toMatchObject({ status: 'active', error: null, granted_scopes: ['openid'] })
    expect(await test(id)).toMatchObject({ success: true, status: 'active', error: null })
    expect(provider.seen.at(-1)).toBe('ann')
  })

  it('sign in with PKCE by S256, and a state of their own each time', async () => {
    const { id } = await create()
    const first = (await providerUrl(id)).searchParams
    const second = (await providerUrl(id)).searchParams
    expect(first.get('code_challenge_method')).toBe('S256')
    expect(first.get('code_challenge')).toHaveLength(43)
    expect(first.get('state')).not.toBe(second.get('state'))
    expect(first.get('code_challenge')).not.toBe(second.get('code_challenge'))
  })

  it('take a state once', async () => {
    const { id } = await create()
    const browser = new Browser()
    const back = await browser.signIn(await authorizeUrl(id), 'ann')
    expect((await browser.open(back)).status).toBe(200)
    const again = await browser.open(back)
    expect(again.status).toBe(400)
    expect(again.text).toContain('oauth_state_invalid')
    expect((await get(id)).status).toBe('active')
  })

  it('take a state once, also when it comes back twice at the same time', async () => {
    const { id } = await create()
    const browser = new Browser()
    const back = await browser.signIn(await authorizeUrl(id), 'ann')
    const pages = await Promise.all([browser.open(back), browser.open(back), browser.open(back)])
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  it.each([
    ['none', () => ''],
    ['one that was made up', () => 'x'.repeat(43)],
    ['one with another signature', (state: string) => `${state.slice(0, -2)}xx`],
    ['one with another nonce', (state: string) => `x${state.slice(1)}`],
  ])('refuse a callback with a state that is %s', async (_, forge) => {
    const { id } = await create()
    const browser = new Browser()
    const back = new URL(await browser.signIn(await authorizeUrl(id), 'ann'))
    back.searchParams.set('state', forge(back.searchParams.get('state') ?? ''))
    expect((await browser.open(back.href)).text).toContain('oauth_state_invalid')
    expect((await get(id)).status).toBe('pending')
  })

  it('refuse a response that names another issuer, and its code is never sent anywhere', async () => {
    const { id } = await create()
    const browser = new Browser()
    const back = new URL(await browser.signIn(await authorizeUrl(id), 'ann'))
    back.searchParams.set('iss', other.url)
    const before = provider.granted.length + other.granted.length
    const page = await browser.open(back.href)
    expect(page.text).toContain('Not connected')
    expect(provider.granted.length + other.granted.length).toBe(before)
    expect((await get(id)).status).toBe('pending')
  })

  it('refuse another issuer where the connection names none', async () => {
    const { id } = await create({ config: { ...provider.config(), issuer: null } })
    const browser = new Browser()
    const back = new URL(await browser.signIn(await authorizeUrl(id), 'ann'))
    back.searchParams.set('iss', other.url)
    expect((await browser.open(back.href)).text).toContain('Not connected')
  })

  it('get nothing for the code of another sign-in: its verifier is another one', async () => {
    const mine = await create()
    const theirs = await create()
    const browser = new Browser()
    const first = new URL(await browser.signIn(await authorizeUrl(mine.id), 'ann'))
    const second = new URL(await new Browser().signIn(await authorizeUrl(theirs.id), 'bob'))
    first.searchParams.set('code', second.searchParams.get('code') ?? '')
    const page = await browser.open(first.href)
    expect(page.text).toContain('Not connected')
    expect(await get(mine.id)).toMatchObject({ status: 'pending', error: { code: 'invalid_grant' } })
  })

  it('get nothing for a code of another provider', async () => {
    const mine = await create()
    const theirs = await create({}, other)
    const browser = new Browser()
    const first = new URL(await browser.signIn(await authorizeUrl(mine.id), 'ann'))
    const second = new URL(await new Browser().signIn(await authorizeUrl(theirs.id), 'ann'))
    first.searchParams.set('code', second.searchParams.get('code') ?? '')
    expect((await browser.open(first.href)).text).toContain('Not connected')
    expect((await get(mine.id)).status).toBe('pending')
  })

  it('end no sign-in at a server that is not the one that it was begun at', async () => {
    const { id } = await create()
    const browser = new Browser()
    const back = await browser.signIn(await authorizeUrl(id), 'ann')
    await world.api.fetch(`/v1/connections/${id}`, { config: other.config() }, { method: 'PATCH' })
    expect((await browser.open(back)).text).toContain('Not connected')
    expect((await get(id)).status).toBe('pending')
  })

  it('say what a person who declines gets, as text and not as markup', async () => {
    const { id } = await create()
    const browser = new Browser()
    const state = (await providerUrl(id, browser)).searchParams.get('state') ?? ''
    const query = new URLSearchParams({ state, error: 'access_denied', error_description: '<script>alert(1)</script>' })
    const page = await browser.open(`${world.url}/v1/connections/oauth/callback?${query}`)
    expect(page.text).toContain('Not connected')
    expect(page.text).not.toContain('<script>')
  })

  it.each(['', 'x.y', 'eyJ.abc'])('refuse the link %j', async (link) => {
    const page = await new Browser().open(`${world.url}/v1/connections/oauth/start?link=${link}`)
    expect([400, 422]).toContain(page.status)
  })

  it('show no secret in any answer, and keep none in the clear', async () => {
    const id = await connected()
    const shown = JSON.stringify([await get(id), (await world.api.get('/v1/connections')).body])
    expect(shown).not.toContain(provider.client.secret)
    const key = 'key-in-the-clear-0123456789'
    const made = await world.api.post('/v1/connections', { connector: 'stripe', api_key: key })
    expect(made.body).toMatchObject({ status: 'active', key_last4: '6789' })
    expect(JSON.stringify(made.body)).not.toContain(key)
    for (const secret of [key, provider.client.secret, ...provider.tokens]) {
      expect(await world.mentions(secret), secret).toEqual({})
    }
  })

  it('are refreshed with a rotated refresh token, again and again', async () => {
    const id = await connected()
    const before = await get(id)
    for (let round = 0; round < 3; round++)
      expect((await refresh(id)).body).toMatchObject({ status: 'active', error: null })
    expect((await get(id)).last_refreshed_at > before.last_refreshed_at).toBe(true)
    expect(await test(id)).toMatchObject({ success: true })
  })

  it('keep the grant while the provider is at 503, and go on with it', async () => {
    const id = await connected()
    provider.failing = 503
    for (let round = 0; round < 3; round++) await refresh(id)
    expect(await get(id)).toMatchObject({ status: 'error', error: { code: 'provider_unavailable' } })
    expect(await test(id)).toMatchObject({ success: true })
    provider.failing = null
    expect((await refresh(id)).body).toMatchObject({ status: 'active', error: null })
  })

  it('expire on invalid_grant, tell webhooks once, and recover by a new sign-in', async () => {
    const id = await connected()
    provider.forget()
    await refresh(id)
    expect(await get(id)).toMatchObject({ status: 'expired', error: { code: 'invalid_grant' } })
    expect((await refresh(id)).status).toBe(409)
    const about = (type: string) => heard.filter((each) => each.type === type && each.data.connection_id === id)
    await vi.waitFor(() => expect(about('connection.expired')).toHaveLength(1), patience)
    const page = await new Browser().connect(await authorizeUrl(id), 'ann')
    expect(page.text).toContain('<h1>Connected</h1>')
    await vi.waitFor(() => expect(about('connection.recovered')).toHaveLength(1), patience)
    expect((await get(id)).status).toBe('active')
  })

  it('refresh once for 50 uses at the same time', async () => {
    const id = await connected()
    provider.live(2)
    await refresh(id)
    provider.live(3600)
    await vi.waitFor(async () => expect(Date.parse((await get(id)).expires_at) - Date.now()).toBeLessThan(150), {
      timeout: 5000,
      interval: 20,
    })
    const before = provider.granted.length
    const results = await Promise.all(Array.from({ length: 50 }, () => test(id)))
    expect(results.every(({ success }) => success)).toBe(true)
    expect(provider.granted.length - before).toBe(1)
  })

  it('are refreshed ahead of their end by themselves', async () => {
    const id = await connected()
    provider.live(4)
    await refresh(id)
    const before = (await get(id)).expires_at
    provider.live(3600)
    await vi.waitFor(async () => expect((await get(id)).expires_at > before).toBe(true), patience)
  })

  it('revoke at the provider, forget their secrets, and take nothing more', async () => {
    const id = await connected()
    await test(id)
    const token = provider.tokens.at(-1) ?? ''
    const revoked = await world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })
    expect(revoked.status).toBe(200)
    await vi.waitFor(async () => expect(await provider.knows(token)).toBe(false), patience)
    expect((await get(id)).status).toBe('revoked')
    for (const verb of ['authorize', 'refresh', 'reconnect', 'test']) {
      expect((await world.api.post(`/v1/connections/${id}/${verb}`, {})).body.error?.code, verb).toBe(
        'connection_revoked',
      )
    }
  })

  it('of a user are not there for another user or tenant', async () => {
    const id = await connected({ tenant_id: tenant, external_user_id: 'ann' })
    const as = (headers: Record<string, string>) => world.api.with(headers).get(`/v1/connections/${id}`)
    expect((await as({ 'x-tenant-id': tenant, 'x-external-user-id': 'ann' })).status).toBe(200)
    expect((await as({ 'x-tenant-id': tenant, 'x-external-user-id': 'bob' })).status).toBe(404)
    expect((await as({ 'x-tenant-id': foreign })).status).toBe(404)
    const list = await world.api.get(`/v1/connections?tenant_id=${foreign}`)
    expect(list.body.data.map((row: { id: string }) => row.id)).not.toContain(id)
  })

  it.each([
    ['a tenant without its id', { owner_type: 'tenant' }, 422, 'tenant_id'],
    ['a user without their id', { owner_type: 'end_user', tenant_id: 'TENANT' }, 422, 'external_user_id'],
    ['an unknown tenant', { tenant_id: 'ten_nope' }, 404, 'tenant_id'],
    ['an unknown connector', { connector: 'nope' }, 404, 'connector'],
    ['a key for an OAuth connector', { api_key: 'k' }, 422, 'api_key'],
    ['a private address', { config: { token_url: 'https://10.0.0.1/token' } }, 422, 'config.token_url'],
    ['a token endpoint without TLS', { config: { token_url: 'http://93.184.215.14/token' } }, 422, 'config.token_url'],
    ['no client', { config: { client_id: undefined } }, 422, 'config.client_id'],
  ])('are not made for %s', async (_, more, status, param) => {
    const { config = {}, tenant_id, ...rest } = { config: {}, tenant_id: undefined, ...more }
    const body = {
      connector: 'oauth2',
      ...rest,
      ...(tenant_id !== undefined && { tenant_id: tenant_id === 'TENANT' ? tenant : tenant_id }),
      config: { ...provider.config(), ...config },
    }
    const answer = await world.api.post('/v1/connections', body)
    expect([answer.status, answer.body.error.param]).toEqual([status, param])
  })

  it('show no other server what was given for one', async () => {
    const id = await connected()
    const config = { token_url: `${other.url}/token`, authorization_url: `${other.url}/auth`, issuer: other.url }
    const moved = await world.api.fetch(`/v1/connections/${id}`, { config }, { method: 'PATCH' })
    expect(await moved.json()).toMatchObject({ status: 'pending' })
    expect(await test(id)).toMatchObject({ success: false, error: { code: 'connection_required' } })
  })

  it('use the client of the project for a connector of the catalogue', async () => {
    const made = await world.api.post('/v1/connections', { connector: 'github' })
    const { id } = made.body
    const refused = await world.api.post(`/v1/connections/${id}/authorize`, {})
    expect(refused.body.error.code).toBe('connector_not_configured')
    const client = { client_id: 'gh', client_secret: 'gh-secret-0123456789' }
    const put = await world.api.fetch('/v1/connectors/github/credentials', client, { method: 'PUT' })
    expect(await put.json()).toMatchObject({ client_id: 'gh', has_secret: true })
    const url = await providerUrl(id)
    expect([url.origin, url.searchParams.get('client_id')]).toEqual(['https://github.com', 'gh'])
    expect((await world.api.get('/v1/connectors/github')).body).toMatchObject({ is_configured: true, client_id: 'gh' })
    expect(await world.mentions('gh-secret-0123456789')).toEqual({})
  })

  it('exchange a code again after kill -9 between code and token', async () => {
    const { id } = await create()
    const browser = new Browser()
    const back = await browser.signIn(await authorizeUrl(id), 'ann')
    const asked = Promise.withResolvers<void>()
    const never = Promise.withResolvers<void>()
    provider.onToken = () => asked.resolve()
    provider.held = never.promise
    const open = browser.open(back).catch(() => null)
    await asked.promise
    await world.crash()
    provider.failing = 503
    never.resolve()
    await open
    provider.held = null
    provider.failing = null
    provider.onToken = () => {}
    await world.restart()
    await vi.waitFor(async () => expect((await get(id)).status).toBe('active'), patience)
    expect(await test(id)).toMatchObject({ success: true })
  })
})
