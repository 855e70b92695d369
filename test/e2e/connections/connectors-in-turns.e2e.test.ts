import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Me', version: '1' },
  paths: {
    '/api/me': { get: { operationId: 'who_am_i', summary: 'Says who is signed in.' } },
    '/api/notes/{note}': {
      delete: {
        operationId: 'delete_note',
        parameters: [{ name: 'note', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
})

describe('tools of connections', () => {
  let world: World
  let provider: OAuthProvider
  let tenant: string
  let pattern: string
  let agent: string

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    world = await World.start({ env: provider.env })
    provider.register(world.url)
    tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const config = { ...provider.config(), openapi: { document } }
    const made = await world.api.post('/v1/connections', { connector: 'oauth2', name: 'Notes', config })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body.tool_count).toBe(2)
    pattern = made.body.id
    const connectors = [{ connection_id: pattern, owner: 'end_user' }]
    const answer = await world.api.post('/v1/agents', { name: 'Notes', config: { model: 'simulated-1', connectors } })
    agent = answer.body.id
  })
  afterAll(async () => {
    await world.stop()
    await provider.stop()
  })

  const sessionOf = (user: string) =>
    world.api.createSession({ agent_id: agent, tenant_id: tenant, external_user_id: user })
  const pausedAt = async (session: string) => {
    const stream = await world.api.turn(session, { input: 'Use who_am_i with nothing: ""' })
    await stream.all()
    const log = await world.api.log(session)
    return log.find((row) => row.event_type === 'turn.paused')?.payload
  }
  const end = (session: string) =>
    vi.waitFor(async () => {
      const log = await world.api.log(session)
      expect(log.at(-1)?.event_type).toBe('turn.completed')
      return log
    }, patience)

  it('pause a turn until its user has signed in, and then resume it automatically', async () => {
    const session = await sessionOf('ann')
    const paused = await pausedAt(session)
    expect(paused).toMatchObject({
      reason: 'connection_required',
      tool: 'who_am_i',
      connection: { connector: 'oauth2' },
    })
    const url = String(Object(paused?.connection).authorize_url)
    expect(url.startsWith(`${world.url}/v1/connections/oauth/start?link=`)).toBe(true)
    const action = (await world.api.get(`/v1/actions/${paused?.action_id}`)).body
    expect(action).toMatchObject({ status: 'awaiting_connection', connection: { authorize_url: url } })
    const refused = await world.api.post(`/v1/actions/${paused?.action_id}/approve`, {})
    expect(refused.body.error.code).toBe('connection_required')
    const page = await new Browser().connect(url, 'ann')
    expect(page.text).toContain('Connected')
    const log = await end(session)
    expect(log.map((row) => row.event_type)).toContain('turn.resumed')
    expect(log.find((row) => row.event_type === 'turn.resumed')?.payload).toMatchObject({ resolution: 'connected' })
    expect(JSON.stringify(log)).toContain('ann')
    expect(provider.seen.at(-1)).toBe('ann')
  })

  it("use only the connection of the session's user", async () => {
    const second = await sessionOf('bob')
    const paused = await pausedAt(second)
    await new Browser().connect(String(Object(paused?.connection).authorize_url), 'bob')
    await end(second)
    expect(provider.seen.at(-1)).toBe('bob')
    const again = await sessionOf('ann')
    await pausedAt(again)
    await end(again)
    expect(provider.seen.at(-1)).toBe('ann')
  })

  it('of one tenant are not used for another', async () => {
    const umbrella = (await world.api.post('/v1/tenants', { external_id: 'umbrella', name: 'Umbrella' })).body.id
    const body = { connector: 'stripe', api_key: 'key-0123456789', tenant_id: tenant }
    const own = (await world.api.post('/v1/connections', body)).body.id
    const config = { model: 'simulated-1', connectors: [{ connection_id: own, require_approval: 'never' }] }
    const agent_id = (await world.api.post('/v1/agents', { name: 'Stripe', config })).body.id
    const session = await world.api.createSession({ agent_id, tenant_id: umbrella, external_user_id: 'eve' })
    await (await world.api.turn(session, { input: 'Use stripe_list_invoices with customer: "c"' })).all()
    expect(JSON.stringify(await world.api.log(session))).toContain('connection_not_found')
  })

  it('are tested with test connections, which need the scopes that a version declares', async () => {
    const of = async (test_only: boolean) =>
      (await world.api.post('/v1/connections', { connector: 'stripe', api_key: 'key-0123456789', test_only })).body.id
    const agent_id = (await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1' } })).body.id
    const test = async (version: string, scopes: readonly string[], id: string) => {
      const connectors = [{ connector: 'stripe', scopes }]
      const config = { model: 'simulated-1', system_prompt: 'Help.', connectors }
      await world.api.post(`/v1/agents/${agent_id}/versions`, { version, config })
      const path = `/v1/agents/${agent_id}/versions/${version}/test`
      const answer = await world.api.post(path, { input: 'hi', test_connection_ids: [id] })
      return [answer.status, answer.body.error?.message ?? null]
    }
    const forTests = await of(true)
    expect(await test('1.0.0', [], forTests)).toEqual([200, null])
    expect(await test('1.0.1', ['read'], forTests)).toEqual([
      422,
      'The test connection of stripe lacks the scope read.',
    ])
    expect((await test('1.0.2', [], await of(false)))[0]).toBe(422)
  })

  it('pause a run until its user has signed in', async () => {
    const run = await world.api.post(`/v1/agents/${agent}/runs`, {
      tenant_id: tenant,
      external_user_id: 'cleo',
      input: { prompt: 'Use who_am_i with nothing: ""' },
    })
    const id = run.body.id
    const waiting = await vi.waitFor(async () => {
      const { body } = await world.api.get(`/v1/runs/${id}/events`)
      const event = body.data.find((each: { event_type: string }) => each.event_type === 'run.requires_action')
      expect(event?.payload.reason).toBe('connection_required')
      return event.payload
    }, patience)
    await new Browser().connect(waiting.connection.authorize_url, 'cleo')
    await vi.waitFor(async () => {
      expect((await world.api.get(`/v1/runs/${id}`)).body.status).toBe('completed')
    }, patience)
    expect(provider.seen.at(-1)).toBe('cleo')
  })
})

describe('tools of a catalogue connector with a key', () => {
  let world: World
  const seen: { url?: string | undefined; key?: string | undefined }[] = []
  let status = 200
  const server = createServer((request, response) => {
    seen.push({ url: request.url, key: request.headers['x-key']?.toString() })
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"rows":["tea"]}')
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port }: AddressInfo = Object(server.address())
    world = await World.start({ tools: [{ host: `127.0.0.1:${port}` }] })
  })
  afterAll(async () => {
    await world.stop()
    await new Promise((resolve) => server.close(resolve))
  })

  it('send the key to the service, refuse path traversal, and report an error status', async () => {
    const { port }: AddressInfo = Object(server.address())
    const open = JSON.stringify({
      openapi: '3.0.3',
      servers: [{ url: `http://127.0.0.1:${port}/v1` }],
      paths: {
        '/rows/{id}': {
          get: {
            operationId: 'read_row',
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
              { name: 'full', in: 'query', schema: { type: 'boolean' } },
            ],
          },
        },
      },
    })
    const made = await world.api.post('/v1/connections', {
      connector: 'http',
      api_key: 'key-0123456789abcdef',
      config: { header: 'X-Key', openapi: { document: open } },
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body).toMatchObject({ status: 'active', key_last4: 'cdef', tool_count: 1 })
    const config = { model: 'simulated-1', connectors: [made.body.id] }
    const agent_id = (await world.api.post('/v1/agents', { name: 'Rows', config })).body.id
    const turn = async (input: string) => {
      const session = await world.api.createSession({ agent_id })
      await (await world.api.turn(session, { input })).all()
      return JSON.stringify(await world.api.log(session))
    }
    expect(await turn('Use read_row with id: "a/b"')).toContain('tea')
    expect(seen.at(-1)).toEqual({ url: '/v1/rows/a%2Fb', key: 'key-0123456789abcdef' })
    const before = seen.length
    expect(await turn('Use read_row with id: ".."')).toContain('cannot be used in a URL')
    expect(seen.length).toBe(before)
    const moved = JSON.stringify({ ...JSON.parse(open), servers: [{ url: 'https://elsewhere.example' }] })
    const again = await world.api.post('/v1/connections', {
      ...{ connector: 'http', api_key: 'key-0123456789abcdef' },
      config: { openapi: { document: open } },
    })
    const change = { config: { openapi: { document: moved } } }
    const answer = await world.api.fetch(`/v1/connections/${again.body.id}`, change, { method: 'PATCH' })
    expect(await answer.json()).toMatchObject({ status: 'pending' })
    status = 500
    expect(await turn('Use read_row with id: "x"')).toContain('status 500')
  })
})
