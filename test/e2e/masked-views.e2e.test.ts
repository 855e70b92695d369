import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from './api.ts'
import { endsTurn, isEvent } from './stream-reader.ts'
import { startToolServer, type ToolServer } from './tool-server.ts'
import { World } from './world.ts'

const secret = 'hunter-4242-value'
const parameters = {
  type: 'object',
  properties: { api_key: { type: 'string' }, city: { type: 'string' } },
  required: ['api_key', 'city'],
}
const input = `Please use the weather tool with api_key: ${secret}, city: Lagos`

describe('a secret in the arguments of a tool call', () => {
  let world: World
  let tool: ToolServer
  let api: Api
  let dashboard: Api
  let project = ''

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

  const weather = (more: object = {}) => ({
    ...{ type: 'http', name: 'weather', description: 'Weather of a city.', parameters, url: tool.url },
    ...more,
  })
  /** Tool call events of an actor as the API and the console show them, without the user's input. */
  const views = async (id: string, events: string): Promise<string> => {
    const pages = [
      await api.get(`${events}?limit=100`),
      await dashboard.get(`/api/projects/${project}/actors/${id}/events`),
    ]
    for (const { status } of pages) expect(status).toBe(200)
    return JSON.stringify(
      pages.flatMap(({ body }) =>
        body.data.filter((row: { event_type: string }) => /tool_call|paused|requires/.test(row.event_type)),
      ),
    )
  }

  /** The arguments of the calls that a page of events shows, in order. */
  const argumentsIn = async (reader: Api, events: string): Promise<readonly unknown[]> => {
    const { body } = await reader.get(`${events}?limit=100`)
    return body.data.flatMap((row: { event_type: string; payload: { arguments?: unknown } }) =>
      /tool_call.started|paused/.test(row.event_type) ? [row.payload.arguments] : [],
    )
  }
  /** The frames of a session's WebSocket from its first event to the first of this name. */
  const socketFrames = async (session: string, last: string): Promise<readonly string[]> => {
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/v1/sessions/${session}/ws?after=0`, {
      headers: { authorization: `Bearer ${world.secretKey}` },
    })
    const frames: string[] = []
    await new Promise<void>((resolve, reject) => {
      socket.onerror = () => reject(new Error('the socket failed'))
      socket.onmessage = ({ data }) => {
        frames.push(String(data))
        if (String(data).includes(`"event":"${last}"`)) resolve()
      }
    })
    socket.close()
    return frames
  }

  it('reaches the tool, and is masked in streams, actions, event pages and the console', async () => {
    const session = await api.createSession()
    const turn = await api.turn(session, { input, tools: [weather({ needsApproval: true })] })
    const paused = await turn.until(isEvent('turn.paused'))
    expect(paused.data.arguments).toEqual({ api_key: '[masked]', city: 'Lagos' })
    const action = (await api.get(`/v1/actions/${paused.data.action_id}`)).body
    expect(action.arguments).toEqual(paused.data.arguments)
    const rest = await api.approve(session, paused.data.action_id)
    await rest.until(endsTurn)
    expect(tool.calls.at(-1)?.body.arguments).toEqual({ api_key: secret, city: 'Lagos' })
    const followed = await api.follow(session, '0')
    await followed.until(endsTurn)
    followed.stop()
    const calls = followed.frames.filter(({ event }) => /tool_call|paused|resumed/.test(event))
    expect(calls.length).toBeGreaterThan(2)
    expect(JSON.stringify([turn.frames.slice(1), calls])).not.toContain(secret)
    const shown = await views(session, `/v1/sessions/${session}/events`)
    expect(shown).toContain('[masked]')
    expect(shown).not.toContain(secret)
    const frames = await socketFrames(session, 'turn.completed')
    const reported = frames.filter((frame) => /tool_call|paused|resumed/.test(frame)).join('\n')
    expect(reported).toContain('[masked]')
    expect(reported).not.toContain(secret)
  })

  it('is not masked for the caller that runs the tool itself', async () => {
    const session = await api.createSession()
    const declared = { type: 'function', function: { name: 'weather', description: 'Weather of a city.', parameters } }
    const turn = await api.turn(session, { input, tools: [declared] })
    const done = await turn.until(endsTurn)
    expect(done.data.tool_calls).toMatchObject([{ tool: 'weather', arguments: { api_key: secret, city: 'Lagos' } }])
  })

  describe("when a call of the caller's own tool waits", () => {
    const iban = 'DE89370400440532013000'
    const declared = {
      type: 'function',
      function: { name: 'weather', description: 'Weather of a city.', parameters },
      needsApproval: true,
    }
    const withIban = `Please use the weather tool with api_key: ${secret}, city: ${iban}`
    const whole = { api_key: secret, city: iban }
    const masked = { api_key: '[masked]', city: '[masked]' }

    it('is complete for secret keys in the stream, the socket, event pages and the action, and masked for members', async () => {
      const session = await api.createSession()
      const turn = await api.turn(session, { input: withIban, tools: [declared] })
      const paused = await turn.until(isEvent('turn.paused'))
      expect(paused.data).toMatchObject({ arguments: whole, run_by: 'caller' })
      const { action_id } = paused.data
      expect((await api.get(`/v1/actions/${action_id}`)).body.arguments).toEqual(whole)
      expect(await argumentsIn(api, `/v1/sessions/${session}/events`)).toEqual([whole, whole])
      const frames = (await socketFrames(session, 'turn.paused')).map((frame) => JSON.parse(frame))
      const calls = frames.filter(({ event }) => /tool_call.started|paused/.test(event))
      expect(calls.map(({ data }) => data.arguments)).toEqual([whole, whole])
      const inbox = await api.get('/v1/actions?status=pending_approval')
      expect(JSON.stringify(inbox.body)).not.toContain(secret)
      expect(
        (await dashboard.get(`/v1/actions/${action_id}`, { headers: { 'x-project-id': project } })).body.arguments,
      ).toEqual(masked)
      expect(await argumentsIn(dashboard, `/api/projects/${project}/actors/${session}/events`)).toEqual([
        masked,
        masked,
      ])
      const results = { action_id, tool_results: [{ action_id, output: 'sunny' }] }
      const rest = await api.stream(`/v1/sessions/${session}/approve`, results)
      await rest.until(endsTurn)
    })

    it("is masked in the stream of a browser's token", async () => {
      const tenant = (await api.post('/v1/tenants', { external_id: 'masks', name: 'Masks' })).body.id
      const token = (await api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' })).body.token
      const browser = world.as(token)
      const session = await browser.createSession()
      const turn = await browser.turn(session, { input: withIban, tools: [declared] })
      const paused = await turn.until(isEvent('turn.paused'))
      expect(paused.data.arguments).toEqual(masked)
      const owner = await api.follow(session, '0')
      expect((await owner.until(isEvent('turn.paused'))).data.arguments).toEqual(whole)
      owner.stop()
    })
  })

  it('is masked in the events of a run', async () => {
    const config = { model: 'simulated-1', tools: [weather({ needsApproval: true })] }
    const agent = (await api.post('/v1/agents', { name: 'Weather', config })).body.id
    const run = (await api.post(`/v1/agents/${agent}/runs`, { input: { prompt: input } })).body.id
    const stream = await api.stream(`/v1/runs/${run}/events`, undefined, { headers: { accept: 'text/event-stream' } })
    const waits = await stream.until(isEvent('run.requires_action'))
    stream.stop()
    expect(waits.data.arguments).toEqual({ api_key: '[masked]', city: 'Lagos' })
    const shown = await views(run, `/v1/runs/${run}/events`)
    expect(shown).toContain('[masked]')
    expect(shown).not.toContain(secret)
  })

  describe('in the export of its tenant', () => {
    const card = '4111111111111111'
    const declared = {
      type: 'function',
      function: { name: 'weather', description: 'Weather of a city.', parameters },
      needsApproval: true,
    }
    let tenant = ''
    let path = ''

    beforeAll(async () => {
      tenant = (await api.post('/v1/tenants', { external_id: 'exported', name: 'Exported' })).body.id
      path = `/v1/tenants/${tenant}/export`
      const session = await api.createSession({ tenant_id: tenant })
      const first = await api.turn(session, { input, tools: [weather({ needsApproval: true })] })
      const { data } = await first.until(isEvent('turn.paused'))
      await (await api.approve(session, data.action_id)).until(endsTurn)
      const own = await api.createSession({ tenant_id: tenant })
      const second = await api.turn(own, {
        input: `Please use the weather tool with api_key: ${card}, city: Lagos`,
        tools: [declared],
      })
      await second.until(isEvent('turn.paused'))
    })

    /** An export without what the user itself wrote, in which nothing is masked. */
    const exported = async (query: string, accept: string): Promise<string> => {
      const answer = await fetch(world.url + path + query, {
        method: 'POST',
        headers: { accept, authorization: `Bearer ${world.secretKey}` },
      })
      expect(answer.status).toBe(200)
      return (await answer.text()).replaceAll(/"input_text":"[^"]*"/g, '"input_text":""')
    }

    it.each(['application/json', 'application/x-ndjson'])(
      'is masked as %s, unless secrets are included',
      async (accept) => {
        const shown = await exported('', accept)
        expect(shown).toContain('[masked]')
        expect(shown).toContain('Lagos')
        expect(shown).not.toMatch(new RegExp(`${secret}|${card}`))
        expect(await exported('?include_secrets=false', accept)).not.toMatch(new RegExp(`${secret}|${card}`))
        const whole = await exported('?include_secrets=true', accept)
        expect([whole.includes(secret), whole.includes(card)]).toEqual([true, true])
      },
    )

    it('is whole for the secret key of the project alone, and audited', async () => {
      const agent = (await api.post('/v1/agents', { name: 'A', config: { model: 'simulated-1' } })).body.id
      await api.post('/v1/agent-installations', { tenant_id: tenant, agent_id: agent })
      const keys = await Promise.all(
        ['secret', 'public'].map(
          async (key_type) => (await api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type })).body.key,
        ),
      )
      const user = { tenant_id: tenant, external_user_id: 'ada' }
      const token = (await api.post('/v1/client-tokens', user)).body.token
      const limited = await dashboard.post(`/api/projects/${project}/keys`, {
        name: 'l',
        scopes: { operations: ['tenants:read'] },
      })
      const others = (await api.post('/v1/tenants', { external_id: 'other', name: 'Other' })).body.id
      const bound = await dashboard.post(`/api/projects/${project}/keys`, { name: 'b', scopes: { tenants: [others] } })
      const callers = [...keys, token, limited.body.key, bound.body.key].map((key) => world.as(key))
      const whole = `${path}?include_secrets=true`
      const answers = await Promise.all([
        ...callers.map((caller) => caller.post(whole)),
        dashboard.post(whole, undefined, { headers: { 'x-project-id': project } }),
        world.as('csk_wrong').post(whole),
      ])
      expect(answers.map(({ status, body }) => `${status} ${body.error?.code}`)).toEqual([
        '403 secret_key_required',
        '403 secret_key_required',
        '403 secret_key_required',
        '403 insufficient_scope',
        '403 insufficient_scope',
        '403 secret_key_required',
        '401 authentication_required',
      ])
      const second = (await dashboard.post('/api/projects', { name: 'Second' })).body
      const foreign = (await dashboard.post(`/api/projects/${second.id}/keys`, { name: 'k' })).body.key
      expect((await world.as(foreign).post(whole)).status).toBe(404)
      expect((await api.post(`${path}?include_secrets=yes`)).status).toBe(400)
      expect((await api.post(`${path}?includeSecrets=true`)).status).toBe(400)
      const lines = (await api.get(`/v1/audit-log?tenant_id=${tenant}&limit=100`)).body.data
      const actions = lines.map(({ action }: { action: string }) => action)
      expect(new Set(actions.filter((action: string) => action.includes('export')))).toEqual(
        new Set(['tenant.exported', 'tenant.exported_with_secrets']),
      )
    })
  })
})
