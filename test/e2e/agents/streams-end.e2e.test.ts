import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionSocket } from '#specs/resources/sessions.ts'
import { noteCalled } from '#test/support/called-operations.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { Api } from '../api.ts'
import { runToolHosted } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { isEvent, type StreamReader } from '../stream-reader.ts'
import { publishedAgent } from '../tenant-life.ts'
import { refundTool, startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'
import { openSocket } from './session-socket.ts'

/** Five seconds, one for which credentials are cached, and some for a machine that stands still. */
const limit = { timeout: 30_000 }

/** A way in which the permission to read a stream ends. */
interface Ending {
  readonly name: string
  /** Creates a session and a token, with the function that ends the permission. */
  readonly begin: () => Promise<{
    readonly session: string
    readonly token: string
    readonly end: () => Promise<unknown>
    /** Longest time in ms until the streams end. Default: a second. */
    readonly withinMs?: number
    /** Status of later attempts. Default: 401 or 403. */
    readonly refusal?: RegExp
  }>
}

let world: World
let tool: ToolServer
let api: Api
let dashboard: Api
let project = ''
let tenants = 0

beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
  api = world.api
  dashboard = await world.dashboard()
  project = (await dashboard.get('/api/projects')).body.data[0].id
})
afterAll(async () => {
  await world.stop()
  await tool.close()
})

const ok = async (answer: ReturnType<Api['get']>) => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}
const newTenant = async (): Promise<string> =>
  (await ok(api.post('/v1/tenants', { external_id: `tenant-${tenants++}`, name: 'Acme' }))).id
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
const installed = async (tenant: string) => {
  const agent = await publishedAgent(api)
  const { id } = await ok(api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent }))
  return { agent, installation: id }
}
const tokenFor = async (tenant: string, installations: readonly string[]): Promise<string> => {
  const body = { tenant_id: tenant, external_user_id: 'ada', installation_ids: installations }
  return (await ok(api.post('/v1/client-tokens', body))).token
}
const disable = (installation: string) =>
  ok(api.post(`/v1/agent-installations/${installation}`, undefined, { method: 'DELETE' }))
const suspend = (tenant: string) => ok(api.post(`/v1/tenants/${tenant}`, { status: 'suspended' }, { method: 'PATCH' }))

const endings: readonly Ending[] = [
  {
    name: 'the tenant is suspended, for a secret key',
    begin: async () => {
      const tenant = await newTenant()
      const session = await api.createSession({ tenant_id: tenant })
      return { session, token: world.secretKey, end: () => suspend(tenant) }
    },
  },
  {
    name: 'the tenant is suspended, for a client token',
    begin: async () => {
      const tenant = await newTenant()
      const { token } = await ok(api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' }))
      return { session: await world.as(token).createSession(), token, end: () => suspend(tenant) }
    },
  },
  {
    name: 'the secret key is revoked',
    begin: async () => {
      const keys = `/api/projects/${project}/keys`
      const { id, key } = await ok(dashboard.post(keys, { name: 'doomed' }))
      const end = () => ok(dashboard.post(`${keys}/${id}`, undefined, { method: 'DELETE' }))
      return { session: await api.createSession(), token: key, end }
    },
  },
  {
    name: 'the limited key that minted the token is revoked',
    begin: async () => {
      const tenant = await newTenant()
      const keys = `/api/projects/${project}/keys`
      const { id, key } = await ok(dashboard.post(keys, { name: 'doomed', scopes: { tenants: [tenant] } }))
      const minted = await world.as(key).post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' })
      const end = () => ok(dashboard.post(`${keys}/${id}`, undefined, { method: 'DELETE' }))
      const { token } = minted.body
      return { session: await world.as(token).createSession(), token, end }
    },
  },
  {
    name: 'the key that minted the token is revoked',
    begin: async () => {
      const tenant = await newTenant()
      const keys = `/api/projects/${project}/keys`
      const { id, key } = await ok(dashboard.post(keys, { name: 'doomed' }))
      const { body } = await world.as(key).post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' })
      const end = () => ok(dashboard.post(`${keys}/${id}`, undefined, { method: 'DELETE' }))
      return { session: await world.as(body.token).createSession(), token: body.token, end }
    },
  },
  {
    name: 'a limited key expires',
    begin: async () => {
      const body = { name: 'short', scopes: { operations: ['sessions'] }, expires_at: inSeconds(4) }
      const { key } = await ok(dashboard.post(`/api/projects/${project}/keys`, body))
      return { session: await world.as(key).createSession(), token: key, end: async () => {}, withinMs: 10_000 }
    },
  },
  {
    name: "the installation is disabled, for the agent's key",
    begin: async () => {
      const tenant = await newTenant()
      const { agent, installation } = await installed(tenant)
      const { key } = await ok(api.post(`/v1/agents/${agent}/keys`, { name: 'k' }))
      const session = await world.as(key).createSession({ tenant_id: tenant })
      return { session, token: key, end: () => disable(installation), refusal: /404/ }
    },
  },
  {
    name: 'the installation is disabled, for a token of it',
    begin: async () => {
      const tenant = await newTenant()
      const { agent, installation } = await installed(tenant)
      const token = await tokenFor(tenant, [installation])
      const session = await world.as(token).createSession({ agent_id: agent })
      return { session, token, end: () => disable(installation) }
    },
  },
  {
    name: 'its installation is disabled, for a token that has another one',
    begin: async () => {
      const tenant = await newTenant()
      const [first, second] = [await installed(tenant), await installed(tenant)]
      const token = await tokenFor(tenant, [first.installation, second.installation])
      const session = await world.as(token).createSession({ agent_id: first.agent })
      return { session, token, end: () => disable(first.installation), refusal: /404/ }
    },
  },
  {
    name: 'the token expires',
    begin: async () => {
      const body = { tenant_id: await newTenant(), external_user_id: 'ada', expires_in: 5 }
      const { token } = await ok(api.post('/v1/client-tokens', body))
      return { session: await world.as(token).createSession(), token, end: async () => {}, withinMs: 10_000 }
    },
  },
]

const follow = (session: string, token: string): Promise<StreamReader> =>
  world.as(token).stream(`/v1/sessions/${session}/stream`)

// each waits for some seconds, so they wait together
describe.concurrent.each(endings)('a stream when $name', ({ begin }) => {
  // assertions of concurrent tests are counted by their own `expect`
  it('ends, by SSE and by WebSocket, and cannot be opened again', limit, async ({ expect }) => {
    const { session, token, end, refusal = /40[13]/, withinMs = 1_000 } = await begin()
    const [stream, socket] = [await follow(session, token), await openSocket(world, { session, token })]
    noteCalled([sessionSocket.id])
    const from = performance.now()
    await end()
    const ended = await stream.until(isEvent('stream.ended'))
    expect(ended.data).toEqual({ reason: 'credential_ended' })
    expect(await stream.ended).toBe('done')
    const { code, last } = await socket.closed
    const tookMs = performance.now() - from
    const usual = async () => (await api.turn(await api.createSession(), { input: 'hello' })).all()
    await expectWithin(withinMs, tookMs, usual)
    expect([code, last.event]).toEqual([1008, 'stream.ended'])
    await expect(follow(session, token)).rejects.toThrow(refusal)
    await expect(openSocket(world, { session, token })).rejects.toThrow('refused')
  })
})

it('the stream of a run ends for a member who is removed', limit, async () => {
  const config = { model: 'simulated-1', tools: [refundTool(tool, { needsApproval: true })] }
  const agent = await ok(api.post('/v1/agents', { name: 'Refunds', config }))
  const input = { prompt: 'Please use issue_refund for order 1042' }
  const run = await ok(api.post(`/v1/agents/${agent.id}/runs`, { input }))
  const person = { email: 'eve@example.com', password: 'a-long-pass-phrase-42' }
  const members = `/api/projects/${project}/members`
  const { id } = await ok(dashboard.post(members, person))
  const login = await new Api(world.url).post('/api/auth/login', person)
  const member = new Api(world.url, { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' })
  const accept = { headers: { accept: 'text/event-stream' } }
  const stream = await member.stream(`/v1/runs/${run.id}/events`, undefined, accept)
  await stream.until(isEvent('run.requires_action'))
  await ok(dashboard.post(`${members}/${id}`, undefined, { method: 'DELETE' }))
  expect((await stream.until(isEvent('stream.ended'))).data).toEqual({ reason: 'credential_ended' })
})

it('signs an owner out whose password npm run reset-owner sets: it is printed once and works, and the old one does not', async () => {
  const before = await world.dashboard()
  const reset = (email: string) => runToolHosted('reset-owner', ['--email', email], world.toolEnv)
  const { code, said } = await reset(world.ownerEmail)
  expect([code, said]).toEqual([0, expect.stringMatching(/^[\w-]{32,}\n$/)])
  const password = said.trim()
  const signIn = (given: string) =>
    new Api(world.url).post('/api/auth/login', { email: world.ownerEmail, password: given })
  expect(await signIn(world.ownerPassword)).toMatchObject({ status: 401 })
  await expect.poll(async () => (await before.get('/api/projects')).status, patience).toBe(401)
  expect((await signIn(password)).status).toBe(200)
  const after = await world.dashboard(world.ownerEmail, password)
  expect((await after.get('/api/projects')).status).toBe(200)
  expect(await world.mentions(password), 'it is stored nowhere').toEqual({})
  const unknown = 'No owner has the e-mail address eve@example.com.\n'
  expect(await reset('eve@example.com')).toEqual({ code: 1, said: unknown })
})
