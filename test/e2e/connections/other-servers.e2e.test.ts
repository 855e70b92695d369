import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

/** A document with one operation. */
const documentOf = (operationId: string, server?: string): string =>
  JSON.stringify({
    openapi: '3.1.0',
    ...(server !== undefined && { servers: [{ url: server }] }),
    paths: { '/api/me': { get: { operationId } } },
  })

describe('a connection granted for one server', () => {
  let world: World
  let provider: OAuthProvider
  let elsewhere: string
  const heard: string[] = []
  const waiting: ServerResponse[] = []
  const stranger = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
    if (request.url === '/slow') waiting.push(response)
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    const { port }: AddressInfo = Object(stranger.address())
    elsewhere = `http://127.0.0.1:${port}`
    const hosts = [provider.host, `127.0.0.1:${port}`]
    world = await World.start({ env: { ...provider.env, ALLOWED_PRIVATE_HOSTS: hosts.join(',') } })
    provider.register(world.url)
  })
  afterAll(async () => {
    await world.stop()
    await provider.stop()
    stranger.closeAllConnections()
    await new Promise((resolve) => stranger.close(resolve))
  })

  const patch = async (
    id: string,
    body: object,
  ): Promise<{ status: number; body: Record<string, Record<string, string>> }> => {
    const answer = await world.api.fetch(`/v1/connections/${id}`, body, { method: 'PATCH' })
    return { status: answer.status, body: Object(await answer.json()) }
  }
  const create = async (body: object): Promise<string> => {
    const made = await world.api.post('/v1/connections', body)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body.id
  }
  const own = (config: object = {}) => create({ connector: 'oauth2', config: provider.config(config) })
  const signedIn = async (id: string, user: string): Promise<void> => {
    const { authorize_url } = (await world.api.post(`/v1/connections/${id}/authorize`, {})).body
    expect((await new Browser().connect(authorize_url, user)).text).toContain('<h1>Connected</h1>')
  }

  it.each([
    ['base_url', () => ({ base_url: elsewhere })],
    ['token_url', () => ({ token_url: `${elsewhere}/token` })],
    ['revocation_url', () => ({ revocation_url: `${elsewhere}/revoke` })],
    ['openapi', () => ({ openapi: { document: documentOf('who_am_i', elsewhere) } })],
  ])('cannot get another %s in its template once a user has signed in', async (field, config) => {
    const tenant_id = (await world.api.post('/v1/tenants', { external_id: field, name: field })).body.id
    const imported = { openapi: { document: documentOf('who_am_i', provider.url) } }
    const pattern = await own({ ...imported, ...(field === 'openapi' && { base_url: undefined }) })
    const connectors = [{ connection_id: pattern, owner: 'end_user' }]
    const made = await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', connectors } })
    const turn = async (): Promise<string> => {
      const agent_id = made.body.id
      const session = await world.api.createSession({ agent_id, tenant_id, external_user_id: 'ann' })
      await (await world.api.turn(session, { input: 'Use who_am_i with nothing: ""' })).all()
      const log = await world.api.log(session)
      const paused = Object(log.find((row) => row.event_type === 'turn.paused')?.payload).connection
      return String(Object(paused).connection_id)
    }
    await signedIn(await turn(), 'ann')
    const before = heard.length
    const moved = await patch(pattern, { config: config() })
    expect([moved.status, moved.body.error?.code, moved.body.error?.param]).toEqual([422, 'invalid_field', 'config'])
    await turn()
    expect(provider.seen.at(-1)).toBe('ann')
    expect(heard.slice(before)).toEqual([])
  })

  it('can be moved to another server while no user has signed in with it', async () => {
    const moved = await patch(await own(), { config: { base_url: elsewhere } })
    expect([moved.status, moved.body.config?.base_url]).toEqual([200, elsewhere])
  })

  it('sends no token to another server when its revocation endpoint changes', async () => {
    const id = await own()
    await signedIn(id, 'bob')
    const before = heard.length
    const moved = await patch(id, { config: { revocation_url: `${elsewhere}/revoke` } })
    expect(moved.body).toMatchObject({ status: 'pending' })
    expect((await world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })).status).toBe(200)
    await vi.waitFor(async () => {
      expect((await world.api.get(`/v1/connections/${id}`)).body.status).toBe('revoked')
    }, patience)
    expect(heard.slice(before)).toEqual([])
  })

  it('keeps its tools when a change is refused after a slow import', async () => {
    const config = { openapi: { document: documentOf('first', provider.url) } }
    const id = await create({ connector: 'http', api_key: 'key-0123456789abcdef', config })
    const changing = patch(id, { config: { openapi: { url: `${elsewhere}/slow` } } })
    await vi.waitFor(() => expect(waiting).toHaveLength(1), patience)
    await world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })
    waiting[0]?.writeHead(200, { 'content-type': 'application/json' }).end(documentOf('second', elsewhere))
    expect((await changing).body.error?.code).toBe('connection_revoked')
    const { data } = (await world.api.get(`/v1/connections/${id}/tools`)).body
    expect(data.map((tool: { name: string }) => tool.name)).toEqual(['first'])
  })

  it('refuses a redirect_uri that is not a URL', async () => {
    const refused = await world.api.post(`/v1/connections/${await own()}/authorize`, { redirect_uri: 'https://[' })
    expect([refused.status, refused.body.error?.param]).toEqual([422, 'redirect_uri'])
  })

  it('is not found by a refresh during which its tenant is deleted', async () => {
    const tenant_id = (await world.api.post('/v1/tenants', { external_id: 'gone', name: 'Gone' })).body.id
    const id = await create({ connector: 'oauth2', tenant_id, config: provider.config() })
    await signedIn(id, 'dan')
    const arrived = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    provider.onToken = arrived.resolve
    provider.held = held.promise
    const refreshing = world.api.post(`/v1/connections/${id}/refresh`, {})
    await arrived.promise
    await world.api.fetch(`/v1/tenants/${tenant_id}`, undefined, { method: 'DELETE' })
    await vi.waitFor(async () => expect((await world.api.get(`/v1/connections/${id}`)).status).toBe(404), patience)
    held.resolve()
    provider.held = null
    expect((await refreshing).status).toBe(404)
  })
})
