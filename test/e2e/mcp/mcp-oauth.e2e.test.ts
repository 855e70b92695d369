import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Browser } from '../connections/browser.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'
import { said } from './new-era-server.ts'
import { ProtectedServer } from './protected-server.ts'

const tools = [
  { name: 'balance', description: 'The balance.', run: () => said('Forty crowns.') },
  { name: 'close_account', description: 'Closes the account.', run: () => said('Closed.') },
]

describe.each(either('mongo'))('a remote server that requires a sign-in, on $store', ({ store }) => {
  let world: World
  let bank: ProtectedServer
  const tenants: Record<string, string> = {}

  beforeAll(async () => {
    bank = await ProtectedServer.start(tools)
    world = await World.start({ store, tools: [bank] })
    for (const name of ['acme', 'globex'])
      tenants[name] = (await world.api.post('/v1/tenants', { external_id: name, name })).body.id
  })
  afterAll(async () => {
    await world.stop()
    await bank.close()
  })
  beforeEach(() => {
    bank.isInsatiable = false
    bank.kept = null
    bank.onToken = () => {}
    for (const name of Object.keys(bank.scopesOfTool)) delete bank.scopesOfTool[name]
    bank.admitted.length = 0
  })

  const register = async (auth: object = {}, more: object = {}) => {
    const body = { name: 'Bank', url: bank.url, trust: true, auth: { type: 'oauth', ...auth }, ...more }
    const made = await world.api.post('/v1/mcp/servers', body)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }
  const signIn = async (link: string, user: string) => {
    const page = await new Browser().connect(link, user)
    expect(page.text).toContain('<h1>Connected</h1>')
  }
  const active = (id: string) =>
    vi.waitFor(async () => {
      const { body } = await world.api.get(`/v1/mcp/servers/${id}`)
      expect(body).toMatchObject({ status: 'active', error: null })
      return body
    }, patience)
  /** A server whose owner has signed in. */
  const connected = async (auth: object = {}) => {
    const { id, authorize_url } = await register(auth)
    await signIn(authorize_url, 'admin')
    return active(id)
  }
  const agentOf = async (server: string): Promise<string> => {
    const mcp_servers = [{ server_id: server, require_approval: 'never' }]
    return (await world.api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1', mcp_servers } })).body.id
  }
  const turn = async (agent_id: string, owner: object = {}, tool = 'Bank__balance') => {
    const session = await world.api.createSession({ agent_id, ...owner })
    await (await world.api.turn(session, { input: `Use ${tool} now` })).all()
    return session
  }
  const last = async (session: string) => (await world.api.log(session)).at(-1)
  const completed = (session: string) =>
    vi.waitFor(async () => {
      const log = await world.api.log(session)
      expect(log.at(-1)?.event_type).toBe('turn.completed')
      return JSON.stringify(log)
    }, patience)
  const pause = async (session: string) => {
    const event = await last(session)
    expect(event?.event_type).toBe('turn.paused')
    return Object(event?.payload.connection)
  }

  it('is registered by its URL, waits for the sign-in of its owner, and is then read by itself', async () => {
    const made = await register()
    expect(made).toMatchObject({
      ...{ status: 'failing', error: { code: 'connection_required' }, tools: [] },
      auth: { type: 'oauth', owner: 'project' },
    })
    await signIn(made.authorize_url, 'admin')
    const server = await active(made.id)
    expect(server.tool_count).toBe(2)
    const connection = (await world.api.get(`/v1/connections/${made.auth.connection_id}`)).body
    expect(connection).toMatchObject({ connector: 'mcp', status: 'active', owner_type: 'project', name: 'Bank' })
    expect(await completed(await turn(await agentOf(made.id)))).toContain('Forty crowns.')
    expect(bank.admitted.at(-1)).toMatchObject({ user: 'admin', method: 'tools/call' })
    // the token was requested for this resource, with a client that the project never registered
    expect(bank.tokenRequests.at(-1)?.get('resource')).toBe(bank.url)
    expect(await world.mentions(bank.admitted.at(-1)?.token ?? '')).toEqual({})
  })

  it('is called with the token of each user, and never with that of another user or tenant', async () => {
    const { id } = await connected({ owner: 'end_user' })
    const agent = await agentOf(id)
    for (const [tenant, user] of [
      ['acme', 'ada'],
      ['acme', 'bob'],
      ['globex', 'ada'],
    ] as const) {
      const owner = { tenant_id: tenants[tenant], external_user_id: user }
      bank.admitted.length = 0
      const session = await turn(agent, owner)
      const { authorize_url } = await pause(session)
      expect(bank.admitted).toEqual([])
      await signIn(authorize_url, `${user} of ${tenant}`)
      expect(await completed(session)).toContain('Forty crowns.')
      await completed(await turn(agent, owner))
      expect(new Set(bank.admitted.map((each) => each.user))).toEqual(new Set([`${user} of ${tenant}`]))
    }
    bank.admitted.length = 0
    const withoutUser = await turn(agent)
    expect(JSON.stringify(await world.api.log(withoutUser))).not.toContain('Forty crowns.')
    expect(bank.admitted).toEqual([])
  })

  it('of a tenant is signed in to by that tenant', async () => {
    const made = await register({}, { tenant_id: tenants.acme })
    expect(made.auth.owner).toBe('tenant')
    await signIn(made.authorize_url, 'acme')
    await active(made.id)
    const agent = await agentOf(made.id)
    expect(await completed(await turn(agent, { tenant_id: tenants.acme }))).toContain('Forty crowns.')
    expect(bank.admitted.at(-1)?.user).toBe('acme')
    const foreign = await turn(agent, { tenant_id: tenants.globex })
    expect(JSON.stringify(await world.api.log(foreign))).not.toContain('Forty crowns.')
  })

  it('that requires more permissions for a call pauses the turn, and the others continue', async () => {
    bank.scopesOfTool.close_account = ['admin']
    const { id, auth } = await connected()
    const agent = await agentOf(id)
    const session = await turn(agent, {}, 'Bank__close_account')
    const { authorize_url } = await pause(session)
    const path = `/v1/connections/${auth.connection_id}`
    expect((await world.api.get(path)).body).toMatchObject({ status: 'active', missing_scopes: ['admin'] })
    expect(await completed(await turn(agent))).toContain('Forty crowns.')
    await signIn(authorize_url, 'admin')
    expect(await completed(session)).toContain('Closed.')
    const { body } = await world.api.get(path)
    expect(body.missing_scopes).toEqual([])
    // what was granted before is requested again
    expect(body.scopes).toEqual(expect.arrayContaining(['read', 'admin']))
  })

  it('cannot cause sign-ins without end by demanding scopes that it has', async () => {
    bank.scopesOfTool.close_account = ['admin']
    bank.isInsatiable = true
    const { id } = await connected()
    const session = await turn(await agentOf(id), {}, 'Bank__close_account')
    await signIn((await pause(session)).authorize_url, 'admin')
    expect(await completed(session)).toContain('insufficient_scope')
  })

  it('is not sent the token at another URL', async () => {
    const { auth } = await connected()
    const url = `${bank.url}/other`
    const made = await world.api.post('/v1/mcp/servers', {
      ...{ name: 'Other', url, auth: { connection_id: auth.connection_id } },
    })
    expect(made.body).toMatchObject({ status: 'failing', tools: [] })
    expect(bank.admitted.map(({ token }) => token)).not.toContain(undefined)
    const read = await world.api.post(`/v1/mcp/servers/${made.body.id}/test`)
    expect(read.body).toMatchObject({ ok: false, error: { code: 'unauthorized' } })
  })

  it('loses its sign-in, and all tokens are revoked, when its URL is changed or its auth is removed', async () => {
    for (const change of [{ url: `${bank.url}?x=1` }, { auth: null }]) {
      const { id, auth } = await connected({ owner: 'end_user' })
      const agent = await agentOf(id)
      const owner = { tenant_id: tenants.acme, external_user_id: `user of ${JSON.stringify(change)}` }
      const session = await turn(agent, owner)
      await signIn((await pause(session)).authorize_url, 'ann')
      await completed(session)
      const token = bank.admitted.at(-1)?.token ?? ''
      expect(await bank.knows(token)).toBe(true)
      const changed = await world.api.post(`/v1/mcp/servers/${id}`, change, { method: 'PATCH' })
      expect(changed.body.auth).toBeNull()
      await vi.waitFor(async () => expect(await bank.knows(token)).toBe(false), patience)
      const path = `/v1/connections/${auth.connection_id}`
      await vi.waitFor(async () => expect((await world.api.get(path)).body.status).toBe('revoked'), patience)
    }
  })

  it('keeps its sign-in when other fields are changed', async () => {
    const { id, auth } = await connected()
    const changed = await world.api.post(
      `/v1/mcp/servers/${id}`,
      { name: 'Bank', auth: { type: 'oauth' } },
      { method: 'PATCH' },
    )
    expect(changed.body).toMatchObject({ auth, status: 'active' })
    // a revoked connection is replaced
    await world.api.post(`/v1/connections/${auth.connection_id}`, undefined, { method: 'DELETE' })
    const again = await world.api.post(`/v1/mcp/servers/${id}`, { auth: { type: 'oauth' } }, { method: 'PATCH' })
    expect(again.body.auth.connection_id).not.toBe(auth.connection_id)
    const { body } = await world.api.post(`/v1/connections/${again.body.auth.connection_id}/reconnect`)
    await signIn(body.authorize_url, 'admin')
    await active(id)
  })

  it('forgets a registered client that its server no longer knows, and registers another', async () => {
    const { auth } = await connected()
    bank.forget()
    const path = `/v1/connections/${auth.connection_id}`
    await world.api.post(`${path}/refresh`)
    expect((await world.api.get(path)).body).toMatchObject({ status: 'error', error: { code: 'invalid_client' } })
    const { authorize_url } = (await world.api.post(`${path}/reconnect`)).body
    await signIn(authorize_url, 'admin')
    expect((await world.api.get(path)).body).toMatchObject({ status: 'active', error: null })
  })

  it('gets no sign-in completed after its connection was revoked', async () => {
    const made = await register()
    const browser = new Browser()
    const back = await browser.signIn(made.authorize_url, 'admin')
    const requests = bank.tokenRequests.length
    await world.api.post(`/v1/connections/${made.auth.connection_id}`, undefined, { method: 'DELETE' })
    const page = await browser.open(back)
    expect(page.text).not.toContain('<h1>Connected</h1>')
    expect(bank.tokenRequests.length).toBe(requests)
  })

  it('accepts another sign-in after kill -9 between the exchange of a code and the storing of its token', async () => {
    const made = await register()
    const arrived = Promise.withResolvers<void>()
    const never = Promise.withResolvers<void>()
    bank.onToken = arrived.resolve
    bank.kept = never.promise
    const browser = new Browser()
    const back = await browser.signIn(made.authorize_url, 'admin')
    const opened = browser.open(back).catch(() => null)
    await arrived.promise
    await world.crash()
    never.resolve()
    bank.kept = null
    await opened
    await world.restart()
    const path = `/v1/connections/${made.auth.connection_id}`
    await vi.waitFor(async () => {
      const { body } = await world.api.get(path)
      expect(body.status === 'active' || body.error !== null, JSON.stringify(body)).toBe(true)
    }, patience)
    const { authorize_url } = (await world.api.post(`${path}/reconnect`)).body
    await signIn(authorize_url, 'admin')
    await active(made.id)
  })
})
