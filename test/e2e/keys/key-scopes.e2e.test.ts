import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSocket } from '../agents/session-socket.ts'
import type { Api } from '../api.ts'
import { publishedAgent } from '../tenant-life.ts'
import { callTool } from '../tool-calls.ts'
import { either, World } from '../world.ts'

describe.each(either('sqlite'))('a limited key on $store', ({ store }) => {
  let world: World
  let api: Api
  let dashboard: Api
  let keys = ''
  let [acme, globex, agent] = ['', '', '']

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
    dashboard = await world.dashboard()
    keys = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/keys`
    acme = (await ok(api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' }))).id
    globex = (await ok(api.post('/v1/tenants', { external_id: 'globex', name: 'Globex' }))).id
    agent = await publishedAgent(api)
    for (const tenant_id of [acme, globex])
      await ok(api.post('/v1/agent-installations', { tenant_id, agent_id: agent }))
  })
  afterAll(() => world.stop())

  const ok = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }
  const refused = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    return `${status} ${body.error?.code} ${body.error?.param}`
  }
  const keyOf = async (scopes: object): Promise<Api> =>
    world.as((await ok(dashboard.post(keys, { name: 'limited', scopes }))).key)
  const chat = (model: string, more: object = {}) => ({
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  })

  it('shows its scopes, and keeps them when it is rotated', async () => {
    const scopes = { models: ['simulated-1'], tenants: [acme], operations: ['sessions', 'models:read'] }
    const made = await ok(dashboard.post(keys, { name: 'limited', scopes }))
    expect(made.scopes).toEqual(scopes)
    const next = await ok(dashboard.post(`${keys}/${made.id}/rotate`))
    expect(next.scopes).toEqual(scopes)
    for (const { key } of [made, next])
      expect(await refused(world.as(key).get('/v1/webhooks'))).toBe('403 insufficient_scope operations')
    const { data } = await ok(dashboard.get(keys))
    expect(data.filter(({ scopes: each }: { scopes: unknown }) => each === null)).toHaveLength(1)
  })

  it.each([
    [{ operations: ['everything'] }, 'scopes.operations[0]'],
    [{ models: [] }, 'scopes.models'],
    [{ users: ['ada'] }, 'scopes.users'],
  ])('is not created with scopes that do not exist: %j', async (scopes, param) => {
    expect(await refused(dashboard.post(keys, { name: 'wrong', scopes }))).toMatch(` ${param}`)
  })

  it('of a model uses no other one, in requests, fallbacks, turns, runs and agents', async () => {
    const key = await keyOf({ models: ['small-1'] })
    const other = '403 insufficient_scope model'
    expect(await refused(key.post('/v1/chat/completions', chat('simulated-1')))).toBe(other)
    expect(await refused(key.post('/v1/chat/completions', chat('small-1', { models: ['simulated-1'] })))).toBe(
      '403 insufficient_scope models[0]',
    )
    const background = { model: 'simulated-1', input: 'Hi', background: true }
    expect(await refused(key.post('/v1/responses', background))).toBe(other)
    const image = { image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    // the default model of the API
    expect((await key.post('/v1/vision', image)).status).not.toBe(200)
    const session = await api.createSession({ agent_id: agent })
    expect(await refused(key.post(`/v1/sessions/${session}/turns`, { input: 'Hi' }))).toBe(other)
    expect(await refused(key.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Hi' } }))).toBe(other)
    const config = { model: 'simulated-1' }
    expect(await refused(key.post('/v1/agents', { name: 'a', config }))).toBe('403 insufficient_scope config.model')
    expect((await ok(key.get('/v1/models'))).data).toEqual([])
    const same = await keyOf({ models: ['simulated-1'] })
    await ok(same.post('/v1/chat/completions', chat('simulated-1')))
    await (await same.turn(session, { input: 'Hi' })).all()
  })

  it('of a tenant reads, changes and bills nothing else', async () => {
    const secret = (await ok(dashboard.post(keys, { name: 'limited', scopes: { tenants: [acme] } }))).key
    const key = world.as(secret)
    const foreign = await api.createSession({ tenant_id: globex })
    const unowned = await api.createSession()
    for (const session of [foreign, unowned])
      for (const path of ['', '/events', '/stream']) {
        expect((await key.get(`/v1/sessions/${session}${path}`)).status).toBe(404)
        await expect(openSocket(world, { session, token: secret })).rejects.toThrow('refused')
      }
    expect(await refused(key.post('/v1/sessions', { tenant_id: globex }))).toBe('403 insufficient_scope tenant_id')
    const own = await key.createSession({ agent_id: agent })
    expect(await ok(key.get(`/v1/sessions/${own}`))).toMatchObject({ tenant_id: acme })
    const { data } = await ok(key.get('/v1/sessions'))
    expect(data.every(({ tenant_id }: { tenant_id: string }) => tenant_id === acme)).toBe(true)
    expect((await ok(key.get('/v1/tenants'))).data.map(({ id }: { id: string }) => id)).toEqual([acme])
    expect((await key.get(`/v1/tenants/${globex}`)).status).toBe(403)
    await ok(key.post('/v1/chat/completions', chat('simulated-1')))
    const { data: rows } = await ok(key.get('/v1/usage/events'))
    expect(rows.every(({ tenant_id }: { tenant_id: string }) => tenant_id === acme)).toBe(true)
    for (const call of [key.get('/v1/webhooks'), key.get('/v1/limits'), key.post('/v1/tenants')])
      expect(await refused(call)).toBe('403 insufficient_scope tenants')
    expect((await ok(key.get(`/v1/agents/${agent}`))).id).toBe(agent)
    const installation = (await ok(api.get(`/v1/agent-installations?tenant_id=${globex}`))).data[0].id
    expect(await refused(key.post('/v1/sessions', { installation_id: installation }))).toBe(
      '404 not_found installation_id',
    )
  })

  it('of several tenants names one in each request', async () => {
    const key = await keyOf({ tenants: [acme, globex] })
    expect(await refused(key.get('/v1/sessions'))).toBe('403 insufficient_scope X-Tenant-Id')
    expect(await refused(key.post('/v1/responses', { model: 'simulated-1', input: 'Hi' }))).toBe(
      '403 insufficient_scope X-Tenant-Id',
    )
    const named = key.with({ 'x-tenant-id': globex })
    await ok(named.post('/v1/responses', { model: 'simulated-1', input: 'Hi' }))
    expect((await ok(named.get('/v1/sessions'))).data).not.toEqual([])
    expect((await ok(key.get('/v1/tenants'))).data).toHaveLength(2)
  })

  it('of reading changes nothing, over HTTP, WebSocket and the tool server', async () => {
    const key = await keyOf({ operations: ['read'] })
    expect(await refused(key.post('/v1/sessions'))).toBe('403 insufficient_scope operations')
    const called = await callTool(key, 'create_session', {})
    expect([called.isError, called.code]).toEqual([true, 'insufficient_scope'])
    const session = await api.createSession()
    const socket = key.socket(`/v1/sessions/${session}/ws`)
    const answer = await new Promise<string>((resolve) => {
      socket.onopen = () => socket.send(JSON.stringify({ type: 'turn', input: 'Hi' }))
      socket.onmessage = ({ data }) => resolve(String(data))
    })
    socket.close()
    expect(JSON.parse(answer)).toMatchObject({ event: 'error', data: { error: { code: 'insufficient_scope' } } })
    expect((await ok(api.get(`/v1/sessions/${session}`))).turn_count).toBe(0)
  })

  it('of several tenants mints tokens that name none, and reach only their own', async () => {
    const key = await keyOf({ tenants: [acme, globex] })
    const wanted = { external_user_id: 'ada' }
    expect(await refused(key.post('/v1/client-tokens', { tenant_id: 'ten_other', ...wanted }))).toBe(
      '403 insufficient_scope tenant_id',
    )
    const { token } = await ok(key.post('/v1/client-tokens', { tenant_id: acme, ...wanted }))
    const client = world.as(token)
    const session = await client.createSession({ agent_id: agent })
    expect(await ok(api.get(`/v1/sessions/${session}`))).toMatchObject({ tenant_id: acme })
    await (await client.turn(session, { input: 'Hi' })).all()
    const foreign = await api.createSession({ tenant_id: globex, external_user_id: 'ada' })
    const named = client.with({ 'x-tenant-id': globex })
    for (const each of [client, named]) expect((await each.get(`/v1/sessions/${foreign}`)).status).toBe(404)
  })

  it('that expires makes no agent key that outlives it, also after a rotation', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const expires_at = inHours(2)
    const made = await ok(dashboard.post(keys, { name: 'short', expires_at }))
    const agentKeys = `/v1/agents/${agent}/keys`
    const key = world.as(made.key)
    expect((await ok(key.post(agentKeys, { name: 'k' }))).expires_at).toBe(expires_at)
    expect(await refused(key.post(agentKeys, { name: 'k', expires_at: inHours(3) }))).toBe(
      '403 insufficient_scope expires_at',
    )
    const sooner = inHours(1)
    expect((await ok(key.post(agentKeys, { name: 'k', expires_at: sooner }))).expires_at).toBe(sooner)
    await ok(dashboard.post(`${keys}/${made.id}/rotate`, { grace_s: 60 }))
    expect((await ok(key.post(agentKeys, { name: 'k' }))).expires_at).toBe(expires_at)
    expect((await ok(api.post(agentKeys, { name: 'k' }))).expires_at).toBeNull()
  })

  it('gives its limits to the tokens and agent keys that it mints', async () => {
    const key = await keyOf({ models: ['small-1'], operations: ['keys', 'sessions'] })
    const { token } = await ok(key.post('/v1/client-tokens', { tenant_id: acme, external_user_id: 'ada' }))
    const client = world.as(token)
    const session = await client.createSession({ agent_id: agent })
    expect(await refused(client.post(`/v1/sessions/${session}/turns`, { input: 'Hi' }))).toBe(
      '403 insufficient_scope model',
    )
    const agentKeys = `/v1/agents/${agent}/keys`
    expect(await refused(key.post(agentKeys, { name: 'k', scopes: { models: ['large-1'] } }))).toBe(
      '403 insufficient_scope scopes.models[0]',
    )
    const minted = await ok(key.post(agentKeys, { name: 'k' }))
    expect(minted.scopes).toEqual({ models: ['small-1'], operations: ['keys', 'sessions'] })
    expect(await refused(world.as(minted.key).get('/v1/models'))).toBe('403 insufficient_scope operations')
    const read = await keyOf({ operations: ['read'] })
    expect(await refused(read.post('/v1/client-tokens', { tenant_id: acme, external_user_id: 'ada' }))).toBe(
      '403 insufficient_scope operations',
    )
  })
})
