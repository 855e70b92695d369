import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from './api.ts'
import { isEvent } from './stream-reader.ts'
import { refundTool, startToolServer, type ToolServer } from './tool-server.ts'
import { either, World } from './world.ts'

const model = 'simulated-1'
/** Six times the number that run at a time, so that each of the three kills meets running and queued ones. */
const many = 120
const patience = { timeout: 120_000, interval: 100 }

const made = async (api: Api, path: string, body: object): Promise<string> => {
  const answer = await api.post(path, body)
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  return answer.body.id
}

/** An agent with one published version. @returns the ids of both. */
const published = async (api: Api, name: string, config: object) => {
  const agent = await made(api, '/v1/agents', { name, config: { model } })
  const version = await made(api, `/v1/agents/${agent}/versions`, { version: '1.0.0', config: { model, ...config } })
  expect((await api.post(`/v1/agents/${agent}/versions/1.0.0/publish`)).status).toBe(200)
  return { agent, version }
}

const statusOf = async (api: Api, run: string): Promise<string> => (await api.get(`/v1/runs/${run}`)).body.status

const untilStatus = (api: Api, run: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(api, run)).toBe(status), patience)

/** Ids of the completed runs of an agent, from the list. */
const completedOf = async (api: Api, agent: string): Promise<readonly string[]> => {
  const ids: string[] = []
  let next: string | null = ''
  while (next !== null) {
    const path = `/v1/runs?agent_id=${agent}&status=completed&limit=100&cursor=${next}`
    const page = await api.get(next === '' ? path.replace('&cursor=', '') : path)
    for (const { id } of page.body.data) ids.push(id)
    next = page.body.next_cursor
  }
  return ids
}

describe.each(either('mongo'))('runs on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  let tenant: string
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool], env: { RUNS_PER_PROJECT: '20', RUNS_PER_TENANT: '5' } })
    tenant = await made(world.api, '/v1/tenants', { external_id: 'acme', name: 'Acme' })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  /** Installs an agent for the tenant. @returns the id of the installation. */
  const installed = (agent: string, approval_policy?: object): Promise<string> =>
    made(world.api, '/v1/agent-installations', {
      tenant_id: tenant,
      agent_id: agent,
      ...(approval_policy && { approval_policy }),
    })

  it('run an installed agent in the background, pause for an approval, and stream their events resumably', async () => {
    const { api } = world
    const { agent, version } = await published(api, 'Support', { tools: [refundTool(tool)] })
    const installation_id = await installed(agent, { default: 'require', tools: {} })
    const before = tool.calls.length
    const input = { prompt: 'Please use issue_refund for order 1042' }
    const created = await api.post(`/v1/agents/${agent}/runs`, { installation_id, external_user_id: 'ada', input })
    expect(created).toMatchObject({
      status: 202,
      body: { status: 'queued', agent_version_id: version, tenant_id: tenant, installation_id, input },
    })
    const run = created.body.id
    const sse = { headers: { accept: 'text/event-stream' } }
    const stream = await api.stream(`/v1/runs/${run}/events`, undefined, sse)
    const paused = await stream.until(isEvent('run.requires_action'))
    expect(await statusOf(api, run)).toBe('requires_action')
    stream.stop()
    expect(tool.calls).toHaveLength(before)
    const action = paused.data.action_id
    expect((await api.get(`/v1/actions/${action}`)).body).toMatchObject({ status: 'pending_approval', run_id: run })
    const decided = await Promise.all([1, 2].map(() => api.post(`/v1/actions/${action}/approve`, { note: 'fine' })))
    for (const { status } of decided) expect(status).toBe(200)
    const resumed = { headers: { ...sse.headers, 'last-event-id': String(paused.id) } }
    const rest = await (await api.stream(`/v1/runs/${run}/events`, undefined, resumed)).all()
    expect(rest.at(-1)).toMatchObject({ event: 'run.completed' })
    expect(tool.calls).toHaveLength(before + 1)
    expect(tool.calls.at(-1)?.body).toMatchObject({ run_id: run, action_id: action })
    const done = await api.get(`/v1/runs/${run}`)
    expect(done.body).toMatchObject({
      status: 'completed',
      external_user_id: 'ada',
      output: { text: expect.any(String) },
    })
    const page = await api.get(`/v1/runs/${run}/events?limit=100`)
    expect(page.body.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      page.body.data.map((_: unknown, index: number) => index + 1),
    )
    expect(page.body.next_cursor).toBeNull()
  })

  it('are created once per Idempotency-Key, and can be cancelled repeatedly', async () => {
    const { api } = world
    const { agent } = await published(api, 'Slow', {})
    const body = { input: { prompt: 'slow please, tell me everything' } }
    const keyed = { headers: { 'idempotency-key': `run-${store}` } }
    const [first, second] = [
      await api.post(`/v1/agents/${agent}/runs`, body, keyed),
      await api.post(`/v1/agents/${agent}/runs`, body, keyed),
    ]
    expect(second.body.id).toBe(first.body.id)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const cancelled = await api.post(`/v1/runs/${first.body.id}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect((await api.post(`/v1/runs/${first.body.id}/cancel`)).status).toBe(200)
  })

  it('delegate only to the subagents of their version, by request and by the model', async () => {
    const { api } = world
    const child = await published(api, 'Digger', {})
    const stranger = await published(api, 'Stranger', {})
    const subagents = [{ agent_id: child.agent, description: 'Digs.' }]
    const boss = await published(api, 'Boss', { subagents, tools: [refundTool(tool, { needsApproval: true })] })
    const installation_id = await installed(boss.agent)
    const prompt = `Please use issue_refund and delegate_to_${child.agent} for order 7`
    const parent = await made(api, `/v1/agents/${boss.agent}/runs`, { installation_id, input: { prompt } })
    await untilStatus(api, parent, 'requires_action')
    const path = `/v1/runs/${parent}/delegate`
    const refused = await api.post(path, { agent_version_id: stranger.version, input: 'dig' })
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'subagent_not_allowed' } } })
    const keyed = { headers: { 'idempotency-key': `child-${store}` } }
    const body = { agent_version_id: child.version, input: 'dig deep' }
    const answers = [await api.post(path, body, keyed), await api.post(path, body, keyed)]
    for (const { status, body: row } of answers) {
      expect(status).toBe(201)
      expect(row).toMatchObject({ parent_run_id: parent, agent_id: child.agent, tenant_id: tenant })
    }
    expect(answers[0]?.body.id).toBe(answers[1]?.body.id)
    await untilStatus(api, answers[0]?.body.id, 'completed')
    const log = (await api.get(`/v1/runs/${parent}/events`)).body.data
    const action = log.find(({ event_type }: { event_type: string }) => event_type === 'run.requires_action')
    expect((await api.post(`/v1/actions/${action.payload.action_id}/approve`)).status).toBe(200)
    await untilStatus(api, parent, 'completed')
    const types = (await api.get(`/v1/runs/${parent}/events`)).body.data.map(
      ({ event_type }: { event_type: string }) => event_type,
    )
    expect(types.filter((type: string) => type === 'run.delegated')).toHaveLength(2)
    expect(types.filter((type: string) => type === 'run.child.completed')).toHaveLength(2)
    expect(await api.post(path, body)).toMatchObject({ status: 409, body: { error: { code: 'invalid_transition' } } })
  })

  it('are all completed when the process is killed three times', { timeout: 400_000 }, async () => {
    const { api } = world
    const { agent } = await published(api, 'Many', {})
    const others = await Promise.all(
      [1, 2, 3].map((n) => made(api, '/v1/tenants', { external_id: `other-${n}`, name: `Other ${n}` })),
    )
    // with a busy store the answer is 503, and a client retries under the same key
    const created = (n: number) =>
      vi.waitFor(async () => {
        const body = { input: { prompt: `Run ${n}` }, tenant_id: [tenant, ...others][n % 4] }
        const answer = await api.post(`/v1/agents/${agent}/runs`, body, {
          headers: { 'idempotency-key': `many-${agent}-${n}` },
        })
        expect(answer.status).toBe(202)
        return String(answer.body.id)
      }, patience)
    const ids = await Promise.all(Array.from({ length: many }, (_, n) => created(n)))
    for (let kill = 0; kill < 3; kill++) {
      // as soon as it answers again: a run that was in progress at the first kill may be in progress at the last one
      const read = async () => expect((await completedOf(world.api, agent)).length).toBeGreaterThanOrEqual(20)
      await vi.waitFor(read, { timeout: 120_000, interval: 100 })
      await world.crash()
      await world.restart()
    }
    const all = async () => {
      const listed = new Set(await completedOf(world.api, agent))
      const missing = ids.filter((id) => !listed.has(id)).slice(0, 3)
      // the status of a run itself may differ from its row in the list
      expect(await Promise.all(missing.map(async (id) => [id, await statusOf(world.api, id)]))).toEqual([])
    }
    await vi.waitFor(all, { timeout: 120_000, interval: 500 })
    for (const id of ids) await untilStatus(world.api, id, 'completed')
    for (const id of ids.slice(0, 40)) {
      const { data } = (await world.api.get(`/v1/runs/${id}/events`)).body
      const types = data.map(({ event_type }: { event_type: string }) => event_type)
      expect(types).toEqual([
        'run.queued',
        'run.started',
        'run.model_call.started',
        'run.model_call.completed',
        'run.completed',
      ])
    }
  })
})
