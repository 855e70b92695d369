import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Api } from '../api.ts'
import { noBrowser } from '../browser/no-browser.ts'
import { patience } from '../patience.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { either, World } from '../world.ts'

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

describe.each(either('mongo'))('forks and replays on $store', ({ store }) => {
  let world: World
  let dashboard: Api
  let project: string
  let tool: ToolServer

  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ store, tools: [tool], env: noBrowser })
    dashboard = await world.dashboard()
    project = (await dashboard.get('/api/projects')).body.data[0].id
  })
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  const inProject = (more: Readonly<Record<string, string>> = {}) => ({ headers: { 'x-project-id': project, ...more } })
  const session = async (...inputs: readonly string[]): Promise<string> => {
    const id = await world.api.createSession()
    for (const input of inputs) await (await world.api.turn(id, { input })).all()
    return id
  }
  const run = async (): Promise<string> => {
    const agent = await world.api.post('/v1/agents', { name: 'Agent', config: { model: 'simulated-1' } })
    const made = await world.api.post(`/v1/agents/${agent.body.id}/runs`, { input: { prompt: 'hello', n: 1 } })
    await vi.waitFor(
      async () => expect((await world.api.get(`/v1/runs/${made.body.id}`)).body.status).toBe('completed'),
      patience,
    )
    return made.body.id
  }

  it('are created once per Idempotency-Key, also after kill -9', async () => {
    const [source, ended] = [await session('one', 'two'), await run()]
    const fork = () => world.api.post(`/v1/sessions/${source}/fork`, { turn_number: 1 }, keyed('fork'))
    const replay = () => world.api.post(`/v1/runs/${ended}/replay`, {}, keyed('replay'))
    const [forked, replayed] = [await fork(), await replay()]
    expect([forked.status, replayed.status]).toEqual([201, 202])
    await world.crash()
    await world.restart()
    expect((await fork()).body.id).toBe(forked.body.id)
    expect((await replay()).body.id).toBe(replayed.body.id)
    expect((await world.api.get(`/v1/sessions/${forked.body.id}`)).body).toMatchObject({
      turn_count: 1,
      forked_from: { session_id: source, turn_number: 1 },
    })
    await vi.waitFor(
      async () =>
        expect((await world.api.get(`/v1/runs/${replayed.body.id}`)).body).toMatchObject({
          status: 'completed',
          replay_of: ended,
          input: { prompt: 'hello', n: 1 },
        }),
      patience,
    )
    const frames = await (await world.api.turn(forked.body.id, { input: 'again' })).all()
    expect(frames.at(-1)?.event).toBe('turn.completed')
    const listed = await world.api.get('/v1/sessions?limit=1')
    expect(listed.body.data[0].forked_from).toEqual({ session_id: source, turn_number: 1 })
  })

  it('need no body, and refuse unknown and invalid fields', async () => {
    const [source, ended] = [await session('one'), await run()]
    expect((await world.api.fetch(`/v1/sessions/${source}/fork`, undefined, { method: 'POST' })).status).toBe(201)
    expect((await world.api.fetch(`/v1/runs/${ended}/replay`, undefined, { method: 'POST' })).status).toBe(202)
    const wrong = await world.api.post(`/v1/sessions/${source}/fork`, { turn: 1 })
    expect(wrong).toMatchObject({ status: 422, body: { error: { param: 'turn' } } })
    const late = await world.api.post(`/v1/sessions/${source}/fork`, { turn_number: 2 })
    expect(late).toMatchObject({ status: 404, body: { error: { param: 'turn_number' } } })
    const empty = await world.api.post(`/v1/runs/${ended}/replay`, { input: { prompt: '' } })
    expect(empty).toMatchObject({ status: 422, body: { error: { param: 'input.prompt' } } })
  })

  it('are refused for client tokens, and for sessions of suspended tenants', async () => {
    const tenant = await world.api.post('/v1/tenants', { external_id: `acme-${store}`, name: 'Acme' })
    const token = await world.api.post('/v1/client-tokens', { tenant_id: tenant.body.id, external_user_id: 'ada' })
    const user = world.as(token.body.token)
    const own = await user.post('/v1/sessions', {})
    await (await user.turn(own.body.id, { input: 'hi' })).all()
    expect((await user.post(`/v1/sessions/${own.body.id}/fork`, {})).status).toBe(403)
    const forked = await world.api.post(`/v1/sessions/${own.body.id}/fork`, {})
    expect(forked.body).toMatchObject({ tenant_id: tenant.body.id, external_user_id: 'ada' })
    await world.api.fetch(`/v1/tenants/${tenant.body.id}`, { status: 'suspended' }, { method: 'PATCH' })
    const suspended = await world.api.post(`/v1/sessions/${own.body.id}/fork`, {})
    expect(suspended.body.error.code).toBe('tenant_suspended')
  })

  it('and decisions record their reasons in the audit log', async () => {
    const source = await session('one')
    const ended = await run()
    const forked = await dashboard.post(`/v1/sessions/${source}/fork`, { reason: 'why I forked' }, inProject())
    expect(forked.status).toBe(201)
    const replayed = await dashboard.post(`/v1/runs/${ended}/replay`, { reason: 'why I replayed' }, inProject())
    expect(replayed.status).toBe(202)
    const waiting = await session()
    const frames = await (await world.api.turn(waiting, gatedTurn(tool))).all()
    const action = String(frames.at(-1)?.data.action_id)
    await dashboard.post(`/v1/actions/${action}/approve`, { note: 'why I approved' }, inProject())
    const other = await world.api.post('/v1/actions', { tool: 'refund', arguments: {} })
    await dashboard.post(`/v1/actions/${other.body.id}/reject`, { reason: 'why I rejected' }, inProject())
    await world.api.post('/v1/webhooks', { name: 'Hook', url: tool.url, events: ['tenant.deleted'] })
    const [webhook] = (await world.api.get('/v1/webhooks?limit=1')).body.data
    await world.api.post(`/v1/webhooks/${webhook.id}/test`, {})
    const [delivery] = (await world.api.get(`/v1/webhook-deliveries?webhook_id=${webhook.id}`)).body.data
    const sent = await dashboard.post(
      `/v1/webhook-deliveries/${delivery.id}/replay`,
      { reason: 'why I replayed it' },
      inProject(),
    )
    const reasonsOf = async (id: string) => {
      const { body } = await world.api.get(`/v1/audit-log?resource_id=${id}`)
      return body.data.map((line: { action: string; reason: string | null }) => [line.action, line.reason])
    }
    const expected: readonly (readonly [string, readonly unknown[]])[] = [
      [forked.body.id, ['session.forked', 'why I forked']],
      [replayed.body.id, ['run.replayed', 'why I replayed']],
      [action, ['action.approved', 'why I approved']],
      [other.body.id, ['action.rejected', 'why I rejected']],
      [sent.body.id, ['webhook_delivery.replayed', 'why I replayed it']],
    ]
    for (const [id, line] of expected)
      await vi.waitFor(async () => expect(await reasonsOf(id)).toContainEqual(line), patience)
  })
})
