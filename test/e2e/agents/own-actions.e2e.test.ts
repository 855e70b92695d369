import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn, isEvent } from '../stream-reader.ts'
import { refundTool, startToolServer, type ToolServer } from '../tool-server.ts'
import { either, World } from '../world.ts'

const value = 'Bearer vendor-value-8812'
const secret = 'hunter-4242-value'
const weather = {
  type: 'object',
  properties: { api_key: { type: 'string' }, city: { type: 'string' } },
  required: ['api_key', 'city'],
}

type Found = ReturnType<typeof JSON.parse>

/** Polls until the result is not null. */
const until = (read: () => Promise<Found>): Promise<Found> =>
  vi.waitFor(async () => {
    const found = await read()
    expect(found).not.toBeNull()
    return found
  }, patience)

describe.each(either('mongo'))('an action on $store', ({ store }) => {
  let world: World
  let tool: ToolServer
  let api: Api
  let dashboard: Api
  let before = 0

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool] })
    api = world.api
    dashboard = await world.dashboard()
  })
  beforeEach(() => {
    before = tool.calls.length
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
  const own = (more: object = {}) =>
    ok(api.post('/v1/actions', { tool: 'wire_money', arguments: { amount: 3, api_key: secret }, ...more }))
  const execute = (more: object = {}) => ({
    execute: { type: 'http', url: tool.url, headers: { Authorization: value }, ...more },
  })
  const decide = (id: string, how: string, body: object = {}) => api.post(`/v1/actions/${id}/${how}`, body)
  const settled = (id: string) =>
    until(async () => {
      const { body } = await api.get(`/v1/actions/${id}`)
      return ['executed', 'failed'].includes(body.status) ? body : null
    })

  it('with `execute` makes its signed request once, when approved, with the arguments as the approver edited them', async () => {
    const { id, execute: shown } = await own(execute())
    expect(shown).toEqual({ type: 'http', url: tool.url, headers: { Authorization: '[masked]' } })
    expect(tool.calls.length).toBe(before)
    const arguments_ = { amount: 2, api_key: '[masked]' }
    await Promise.all([1, 2, 3].map(() => ok(decide(id, 'approve', { arguments: arguments_, note: 'less' }))))
    const action = await settled(id)
    expect(action).toMatchObject({
      status: 'executed',
      note: 'less',
      arguments: arguments_,
      edits: [{ path: '/amount', before: 3, after: 2 }],
    })
    await ok(decide(id, 'approve'))
    expect(tool.calls.length).toBe(before + 1)
    const call = tool.calls.at(-1)
    expect(call?.headers.authorization).toBe(value)
    expect(call?.body).toEqual({ tool: 'wire_money', arguments: { amount: 2, api_key: secret }, action_id: id })
    const project = (await dashboard.get('/api/projects')).body.data[0].id
    const signing = (await dashboard.get(`/api/projects/${project}/signing-secret`)).body.signing_secret
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    const headers = Object.fromEntries(names.map((name) => [name, String(call?.headers[name])]))
    expect(new Webhook(signing).verify(JSON.stringify(call?.body), headers)).toEqual(call?.body)
    expect(await world.mentions('vendor-value-8812')).toEqual({})
    const lines = (await dashboard.get('/v1/audit-log?limit=100')).body.data
    const line = lines.find(
      (each: { action: string; resource: { id: string } }) =>
        each.action === 'action.approved' && each.resource.id === id,
    )
    expect(line.changes).toEqual(['arguments'])
  })

  it('with `execute` requires a secret key, and accepts no output with its approval', async () => {
    const { status, body } = await dashboard.post('/v1/actions', { tool: 'pay', arguments: {}, ...execute() })
    expect([status, body.error]).toMatchObject([403, { code: 'secret_key_required', param: 'execute' }])
    const { id } = await own(execute())
    const refused = await decide(id, 'approve', { tool_results: [{ action_id: id, output: '1' }] })
    expect([refused.status, refused.body.error.param]).toEqual([422, 'tool_results'])
    expect((await decide(id, 'complete', { output: '1' })).status).toBe(409)
    await ok(decide(id, 'reject'))
    expect((await decide(id, 'approve')).status).toBe(409)
    const unsafe = await own(execute({ url: 'http://127.0.0.1:1/', headers: {} }))
    await ok(decide(unsafe.id, 'approve'))
    expect((await settled(unsafe.id)).error.code).toBe('tool_url_refused')
    expect(tool.calls.length).toBe(before)
  })

  it('without `execute` is executed with the output sent with the approval', async () => {
    const { id } = await own()
    const approved = await ok(decide(id, 'approve', { tool_results: [{ action_id: id, output: 'wired' }] }))
    expect(approved).toMatchObject({ status: 'executed', result: 'wired', execute: null, edits: null })
  })

  it('without `execute` is executed or failed once, as its caller reports after the approval', async () => {
    const [first, second] = [await own(), await own()]
    const early = await decide(first.id, 'complete', { output: 'wired' })
    expect([early.status, early.body.error.code]).toEqual([409, 'invalid_transition'])
    for (const { id } of [first, second]) expect((await ok(decide(id, 'approve'))).status).toBe('approved')
    for (const body of [{}, { output: 'a', error: { code: 'b', message: 'c' } }]) {
      expect((await decide(first.id, 'complete', body)).status).toBe(422)
    }
    expect(await ok(decide(first.id, 'complete', { output: '{"token":"hidden"}' }))).toMatchObject({
      status: 'executed',
      result: '{"token":"[masked]"}',
    })
    const error = { code: 'no_funds', message: 'The account is empty.' }
    expect(await ok(decide(second.id, 'complete', { error }))).toMatchObject({ status: 'failed', error })
    const late = await decide(second.id, 'complete', { output: 'wired' })
    expect([late.status, late.body.error.code]).toEqual([409, 'action_already_resolved'])
    const other = await decide(first.id, 'approve', { arguments: { amount: 9 } })
    expect([other.status, other.body.error.code]).toEqual([409, 'action_already_resolved'])
  })

  it('of a paused turn calls its tool with the edited arguments, which streams mask', async () => {
    const tools = [{ type: 'http', name: 'weather', parameters: weather, url: tool.url, needsApproval: true }]
    const session = await api.createSession()
    const input = `Please use the weather tool with api_key: ${secret}, city: Lagos`
    const paused = await (await api.turn(session, { input, tools })).until(isEvent('turn.paused'))
    const body = { action_id: paused.data.action_id, arguments: { api_key: '[masked]', city: 'Abuja' } }
    const stream = await api.stream(`/v1/sessions/${session}/approve`, body)
    const resumed = await stream.until(isEvent('turn.resumed'))
    expect(resumed.data).toMatchObject({ resolution: 'approved', arguments: { api_key: '[masked]', city: 'Abuja' } })
    await stream.until(endsTurn)
    expect(tool.calls.at(-1)?.body.arguments).toEqual({ api_key: secret, city: 'Abuja' })
    const action = await ok(api.get(`/v1/actions/${paused.data.action_id}`))
    expect(action.edits).toEqual([{ path: '/city', before: 'Lagos', after: 'Abuja' }])
    const forged = await api.post(`/v1/sessions/${session}/approve`, { ...body, arguments: { city: '[masked]' } })
    expect([forged.status, tool.calls.length]).toEqual([409, before + 1])
  })

  it('of a run calls its tool with the arguments as an approver edited them; a client token may not approve', async () => {
    const config = { model: 'simulated-1', tools: [refundTool(tool, { needsApproval: true })] }
    const agent = await ok(api.post('/v1/agents', { name: 'Refunds', config }))
    const input = { prompt: 'Please use issue_refund for order 1042' }
    const run = await ok(api.post(`/v1/agents/${agent.id}/runs`, { input }))
    const inbox = () => api.get(`/v1/actions?run_id=${run.id}`)
    const [waiting] = await until(async () => {
      const { data } = (await inbox()).body
      return data.length > 0 ? data : null
    })
    const tenant = await ok(api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' }))
    const client = await ok(api.post('/v1/client-tokens', { tenant_id: tenant.id, external_user_id: 'ada' }))
    const body = { arguments: { order: '7' } }
    const refused = await world.as(client.token).post(`/v1/actions/${waiting.id}/approve`, body)
    expect(refused.status).toBe(403)
    await ok(dashboard.post(`/v1/actions/${waiting.id}/approve`, body))
    expect((await settled(waiting.id)).edits).toEqual([{ path: '/order', before: expect.any(String), after: '7' }])
    expect(tool.calls.at(-1)?.body.arguments).toEqual({ order: '7' })
    const events = await until(async () => {
      const page = await api.get(`/v1/runs/${run.id}/events?limit=100`)
      return JSON.stringify(page.body).includes('run.completed') ? page.body.data : null
    })
    const approved = events.find((row: { event_type: string }) => row.event_type === 'run.action.approved')
    expect(approved.payload.arguments).toEqual({ order: '7' })
  })

  it('with `execute` does not repeat a request that was in progress when the process was killed', async () => {
    tool.hold()
    const { id } = await own(execute())
    await ok(decide(id, 'approve'))
    await tool.called(before + 1)
    await world.noteCalled()
    await world.crash()
    tool.answer()
    await world.restart()
    expect([(await settled(id)).error.code, tool.calls.length]).toEqual(['outcome_unknown', before + 1])
  })
})
