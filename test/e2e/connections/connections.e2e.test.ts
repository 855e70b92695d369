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
  afterEach(() => provider.live(3600))

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
  /** The provider's URL to which the browser is redirected for a sign-in. */
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

  it('become active when their owner has signed in, and pass a test', async () => {
    const id = await connected()
    expect(await get(id)).toMatchObject({ status: 'active', error: null, granted_scopes: ['openid'] })
    expect(await test(id)).toMatchObject({ success: true, status: 'active', error: null })
    expect(provider.seen.at(-1)).toBe('ann')
  })

  it.each(['', 'x.y', 'eyJ.abc'])('are not begun by the invalid link %j', async (link) => {
    const page = await new Browser().open(`${world.url}/v1/connections/oauth/start?link=${link}`)
    expect([400, 422]).toContain(page.status)
  })

  it('show no secret in an answer, and store none in plain text', async () => {
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

  it('expire on invalid_grant, notify webhooks once, and recover by a new sign-in', async () => {
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

  it('are refreshed automatically before they expire', async () => {
    const id = await connected()
    provider.live(4)
    await refresh(id)
    const before = (await get(id)).expires_at
    provider.live(3600)
    await vi.waitFor(async () => expect((await get(id)).expires_at > before).toBe(true), patience)
  })

  it('are revoked at the provider, and refuse further operations', async () => {
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

  it('of a user are not found by another user or tenant', async () => {
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
  ])('are not created for %s', async (_, more, status, param) => {
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

  it('require a new sign-in when their server changes', async () => {
    const id = await connected()
    const config = { token_url: `${other.url}/token`, authorization_url: `${other.url}/auth`, issuer: other.url }
    const moved = await world.api.fetch(`/v1/connections/${id}`, { config }, { method: 'PATCH' })
    expect(await moved.json()).toMatchObject({ status: 'pending' })
    expect(await test(id)).toMatchObject({ success: false, error: { code: 'connection_required' } })
  })

  it("use the project's client credentials for a connector of the catalogue", async () => {
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
})
