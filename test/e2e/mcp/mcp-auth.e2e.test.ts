import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'
import { type Arrived, type NewEraServer, said, startNewEraServer } from './new-era-server.ts'

describe('a remote server to which each user signs in', () => {
  let world: World
  let ours: NewEraServer
  let agent_id: string
  const tenants: Record<string, string> = {}

  beforeAll(async () => {
    ours = await startNewEraServer([{ name: 'balance', description: 'The balance.', run: () => said('Forty crowns.') }])
    world = await World.start({ tools: [ours] })
    const auth = { connector: 'stripe', owner: 'end_user' }
    const made = await world.api.post('/v1/mcp/servers', { name: 'Bank', url: ours.url, trust: true, auth })
    expect(made).toMatchObject({ status: 201, body: { auth, status: 'active' } })
    const mcp_servers = [{ server_id: made.body.id, require_approval: 'never' }]
    agent_id = (await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', mcp_servers } })).body
      .id
    for (const name of ['acme', 'globex'])
      tenants[name] = (await world.api.post('/v1/tenants', { external_id: name, name })).body.id
  })
  afterAll(async () => {
    await world.stop()
    await ours.close()
  })

  const connects = async (tenant: string, user: string, api_key: string) => {
    const owner = { owner_type: 'end_user', tenant_id: tenants[tenant], external_user_id: user }
    const made = await world.api.post('/v1/connections', { connector: 'stripe', api_key, ...owner })
    expect(made.status).toBe(201)
  }

  const turnOf = async (tenant: string, user: string) => {
    const session = await world.api.createSession({ agent_id, tenant_id: tenants[tenant], external_user_id: user })
    const stream = await world.api.turn(session, { input: 'Use Bank__balance now' })
    return { session, stream }
  }

  it("is called with the token of the session's user, never with that of another user or tenant", async () => {
    await connects('acme', 'ada', 'key-of-ada')
    await connects('acme', 'bob', 'key-of-bob')
    await connects('globex', 'ada', 'key-of-the-other-ada')
    const expected = { 'acme ada': 'key-of-ada', 'acme bob': 'key-of-bob', 'globex ada': 'key-of-the-other-ada' }
    for (const [who, key] of Object.entries(expected)) {
      const [tenant = '', user = ''] = who.split(' ')
      const { session, stream } = await turnOf(tenant, user)
      await stream.all()
      expect(JSON.stringify(await world.api.log(session))).toContain('Forty crowns.')
      expect(ours.calls.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
    }
  })

  it('is not called for a user without a connection or a session without a user', async () => {
    ours.calls.length = 0
    const { stream } = await turnOf('acme', 'eve')
    await stream.all()
    const session = await world.api.createSession({ agent_id })
    await (await world.api.turn(session, { input: 'Use Bank__balance now' })).all()
    expect(JSON.stringify(await world.api.log(session))).not.toContain('Forty crowns.')
    expect(ours.calls).toEqual([])
  })

  it.each([
    [{}, 'missing_field'],
    [{ connection_id: 'con_none' }, 'invalid_field'],
    [{ connector: 'none', owner: 'end_user' }, 'invalid_field'],
  ])('is not registered with %j', async (auth, code) => {
    const answer = await world.api.post('/v1/mcp/servers', { name: 'Bank', url: ours.url, auth })
    expect(answer).toMatchObject({ status: 422, body: { error: { code, param: 'auth' } } })
  })
})

describe('a remote server that a key limited to one tenant registers', () => {
  let world: World
  let ours: NewEraServer
  let [acme, globex, limited, ofProject, ofGlobex, registered] = ['', '', '', '', '', '']
  const sent = new Set<string | undefined>()

  const connection = async (api_key: string, owner: object): Promise<string> => {
    const made = await world.api.post('/v1/connections', { connector: 'stripe', api_key, ...owner })
    expect(made.status).toBe(201)
    return made.body.id
  }
  const registers = (auth: object) =>
    world
      .as(limited)
      .post('/v1/mcp/servers', { name: `Bank ${JSON.stringify(auth)}`.slice(0, 64), url: ours.url, auth })

  beforeAll(async () => {
    const before = async ({ request, body }: Arrived) => {
      if (body === null) sent.add(request.headers.authorization)
      return false
    }
    ours = await startNewEraServer([{ name: 'balance', description: 'The balance.' }], { before })
    world = await World.start({ tools: [ours] })
    const dashboard = await world.dashboard()
    const { id } = (await dashboard.get('/api/projects')).body.data[0]
    for (const name of ['acme', 'globex'] as const) {
      const { body } = await world.api.post('/v1/tenants', { external_id: name, name })
      if (name === 'acme') acme = body.id
      else globex = body.id
    }
    limited = (await dashboard.post(`/api/projects/${id}/keys`, { name: 'k', scopes: { tenants: [acme] } })).body.key
    ofProject = await connection('key-of-the-project', {})
    ofGlobex = await connection('key-of-globex', { tenant_id: globex })
    await connection('key-of-acme', { tenant_id: acme })
    const whole = { name: 'Whole', url: ours.url, tenant_id: acme, auth: { connection_id: ofProject } }
    registered = (await world.api.post('/v1/mcp/servers', whole)).body.id
    expect(sent).toContain('Bearer key-of-the-project')
    sent.clear()
  })
  afterAll(async () => {
    await world.stop()
    await ours.close()
  })

  it("gets no token of the project's connections, which would go to a URL of the key's choice", async () => {
    const refusals = [
      [{ connector: 'stripe' }, '403 insufficient_scope auth.owner'],
      [{ connector: 'stripe', owner: 'project' }, '403 insufficient_scope auth.owner'],
      [{ connection_id: ofProject }, '422 invalid_field auth'],
      [{ connection_id: ofProject, owner: 'project' }, '422 invalid_field auth'],
    ] as const
    for (const [auth, refusal] of refusals) {
      const changed = await world.as(limited).post(`/v1/mcp/servers/${registered}`, { auth }, { method: 'PATCH' })
      for (const { status, body } of [await registers(auth), changed])
        expect(`${status} ${body.error?.code} ${body.error?.param}`, JSON.stringify(auth)).toBe(refusal)
    }
    expect([...sent]).not.toContain('Bearer key-of-the-project')
  })

  it('does not learn which connections other tenants have', async () => {
    const answers = [await registers({ connection_id: ofGlobex }), await registers({ connection_id: 'con_none' })]
    const shown = answers.map(({ status, body }) => [status, body.error?.message])
    expect(shown).toEqual([
      [422, `There is no connection ${ofGlobex}.`],
      [422, 'There is no connection con_none.'],
    ])
  })

  it("is called with the token of the tenant's own connection", async () => {
    const made = await registers({ connector: 'stripe', owner: 'tenant' })
    expect(made).toMatchObject({ status: 201, body: { status: 'active', tenant_id: acme } })
    expect([...sent]).toContain('Bearer key-of-acme')
  })
})
