import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { isEvent } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const unknown = 'ten_01m7yttzjhsxjpptb3mj7638ba'

describe.each(either('mongo'))('lists of runs, actions and sessions on $store', ({ store }) => {
  let world: World
  let api: Api
  let acme: string
  let globex: string
  let agent: string
  let other: string
  let installation: string

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
    acme = (await api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    globex = (await api.post('/v1/tenants', { external_id: 'globex', name: 'Globex' })).body.id
    agent = await newAgent('Helper')
    other = await newAgent('Other')
    installation = (await api.post('/v1/agent-installations', { tenant_id: acme, agent_id: agent })).body.id
  })
  afterAll(() => world.stop())

  const newAgent = async (name: string): Promise<string> => {
    const config = { model: 'simulated-1', system_prompt: 'Be brief.' }
    const { id } = (await api.post('/v1/agents', { name, config })).body
    await api.post(`/v1/agents/${id}/versions`, { version: '1.0.0', config })
    await api.post(`/v1/agents/${id}/versions/1.0.0/publish`)
    return id
  }
  const ids = async (path: string, as = api): Promise<readonly string[]> => {
    const { status, body } = await as.get(path)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.data.map(({ id }: { id: string }) => id)
  }
  const refused = async (path: string) => {
    const { status, body } = await api.get(path)
    return `${status} ${body.error?.code} ${body.error?.param ?? ''}`.trim()
  }

  it('filter runs by agent, tenant, user, installation and status, with pagination', async () => {
    const run = async (of: string, body: object): Promise<string> =>
      (await api.post(`/v1/agents/${of}/runs`, { input: { prompt: 'Hello' }, ...body })).body.id
    const mine = await run(agent, { installation_id: installation, tenant_id: acme, external_user_id: 'ada' })
    const theirs = await run(agent, { tenant_id: globex })
    const others = await run(other, {})
    await vi.waitFor(async () => expect(await ids('/v1/runs?status=completed')).toHaveLength(3), patience)
    expect(await ids('/v1/runs')).toEqual([others, theirs, mine])
    const first = (await api.get('/v1/runs?limit=2')).body
    expect(await ids(`/v1/runs?limit=2&cursor=${first.next_cursor}`)).toEqual([mine])
    expect(await ids(`/v1/runs?agent_id=${agent}`)).toEqual([theirs, mine])
    expect(await ids(`/v1/runs?tenant_id=${acme}&status=completed&agent_id=${agent}`)).toEqual([mine])
    expect(await ids(`/v1/runs?tenant_id=${acme}&external_user_id=ada`)).toEqual([mine])
    expect(await ids(`/v1/runs?installation_id=${installation}`)).toEqual([mine])
    for (const none of ['status=failed', `tenant_id=${unknown}`, `parent_run_id=${mine}`])
      expect(await ids(`/v1/runs?${none}`)).toEqual([])
    const { input: _input, output: _output, started_at: _started, ...whole } = (await api.get(`/v1/runs/${mine}`)).body
    expect((await api.get(`/v1/runs?installation_id=${installation}`)).body.data).toEqual([whole])
  })

  it("contain only the runs and sessions of its agent for an agent's key", async () => {
    const { body } = await api.post(`/v1/agents/${other}/keys`, { name: 'own', key_type: 'secret' })
    const own = world.as(body.key)
    const session = await own.createSession()
    expect(await ids('/v1/runs?limit=100', own)).toHaveLength(1)
    expect(await ids(`/v1/runs?agent_id=${agent}`, own)).toEqual([])
    expect(await ids('/v1/sessions', own)).toEqual([session])
    expect(await ids(`/v1/sessions?agent_id=${agent}`, own)).toEqual([])
  })

  it('filter actions by status, tenant, tool and risk level, and mask their secrets', async () => {
    const action = async (body: object): Promise<string> =>
      (await api.post('/v1/actions', { tool: 'refund', arguments: { api_key: 'sk-12345678', sum: 5 }, ...body })).body
        .id
    const mine = await action({ tenant_id: acme, risk_level: 'high' })
    const theirs = await action({ tenant_id: globex, tool: 'mail' })
    const done = await action({ tenant_id: acme })
    await api.post(`/v1/actions/${done}/reject`)
    expect(await ids('/v1/actions')).toEqual([done, theirs, mine])
    expect(await ids('/v1/actions?status=pending_approval')).toEqual([theirs, mine])
    expect(await ids(`/v1/actions?status=pending_approval&tenant_id=${acme}`)).toEqual([mine])
    expect(await ids('/v1/actions?tool=mail')).toEqual([theirs])
    expect(await ids('/v1/actions?risk_level=high')).toEqual([mine])
    const [row] = (await api.get(`/v1/actions?tenant_id=${acme}&status=pending_approval`)).body.data
    expect(row).toEqual((await api.get(`/v1/actions/${mine}`)).body)
    expect(JSON.stringify(row)).not.toContain('sk-12345678')
    const dashboard = await world.dashboard()
    expect(await ids('/v1/actions?status=rejected', dashboard)).toEqual([done])
  })

  it('filter sessions by agent, installation, tenant and user, and show a client token only its own', async () => {
    const installed = await api.createSession({ installation_id: installation, external_user_id: 'ada' })
    const plain = await api.createSession({ tenant_id: acme, external_user_id: 'bob', agent_id: agent })
    expect(await ids(`/v1/sessions?agent_id=${agent}`)).toEqual([plain, installed])
    expect(await ids(`/v1/sessions?installation_id=${installation}&status=active`)).toEqual([installed])
    expect(await ids(`/v1/sessions?tenant_id=${acme}&external_user_id=bob`)).toEqual([plain])
    const { body } = await api.post('/v1/client-tokens', { tenant_id: acme, external_user_id: 'bob' })
    const bob = world.as(body.token)
    expect(await ids('/v1/sessions', bob)).toEqual([plain])
    expect(await ids(`/v1/sessions?tenant_id=${globex}`, bob)).toEqual([])
    expect(await ids(`/v1/sessions?tenant_id=${acme}&external_user_id=ada`, bob)).toEqual([])
  })

  it('show a turn and a run that wait as soon as their events say so', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const tool = { type: 'function', function: { name: 'weather', parameters }, needsApproval: true }
    const prompt = 'Please use the weather tool with city: Lagos'
    const config = { model: 'simulated-1', tools: [tool] }
    const waiting = (await api.post('/v1/agents', { name: 'Waiting', config })).body.id
    for (let round = 0; round < 5; round++) {
      const session = await api.createSession()
      const turn = await api.turn(session, { input: prompt, tools: [tool] })
      const { action_id } = (await turn.until(isEvent('turn.paused'))).data
      const lists = ['/v1/actions?status=pending_approval', '/v1/sessions?status=paused']
      const [actions, sessions] = await Promise.all(lists.map((path) => ids(path)))
      expect([actions?.[0], sessions?.[0]]).toEqual([action_id, session])
      const run = (await api.post(`/v1/agents/${waiting}/runs`, { input: { prompt } })).body.id
      const events = await api.stream(`/v1/runs/${run}/events`, undefined, { headers: { accept: 'text/event-stream' } })
      await events.until(isEvent('run.requires_action'))
      events.stop()
      const ofRun = [`/v1/actions?run_id=${run}`, '/v1/runs?status=requires_action']
      const [own, runs] = await Promise.all(ofRun.map((path) => ids(path)))
      expect([own?.length, runs?.[0]]).toEqual([1, run])
    }
  })

  it.each(['/v1/tenants?name=acme', '/v1/runs?agent=x', '/v1/actions?state=pending', '/v1/sessions?user=ada'])(
    'refuse an unknown filter: %s',
    async (path) => {
      expect(await refused(path)).toMatch(/^400 invalid_query/)
    },
  )

  it('refuse a user without a tenant', async () => {
    expect(await refused('/v1/runs?external_user_id=ada')).toBe('400 invalid_query external_user_id')
  })
})
