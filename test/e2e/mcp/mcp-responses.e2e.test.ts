import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { type NewEraServer, type ServedTool, said, startNewEraServer } from './new-era-server.ts'

const weather: ServedTool = {
  name: 'weather',
  description: 'The weather of a place.',
  properties: { place: { type: 'string' } },
  run: ({ place }) => said(`Rain in ${String(place)}.`),
}
const breaks: ServedTool = {
  name: 'breaks',
  description: 'Fails.',
  run: () => ({ ...said('No such thing.'), isError: true }),
}
const model = 'simulated-1'
const input = 'Use ours__weather with place: "Oslo"'

describe('remote MCP servers in the Responses API, with the official client', () => {
  let world: World
  let ours: NewEraServer
  let openai: OpenAI

  beforeAll(async () => {
    ours = await startNewEraServer([weather, breaks])
    world = await World.start({ tools: [ours] })
    openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    await world.api.post('/v1/mcp/servers', { name: 'ours', url: ours.url, trust: true })
  })
  afterAll(async () => {
    await world.stop()
    await ours.close()
  })
  beforeEach(() => {
    ours.calls.length = 0
  })

  const raw = () => ({ type: 'mcp' as const, server_label: 'ours', server_url: ours.url })
  const registered = { type: 'mcp' as const, server_label: 'ours' }

  it.each(['by its label', 'by its URL'])('are called %s, with their tools and calls as output items', async (how) => {
    const tool = { ...(how === 'by its URL' ? raw() : registered), require_approval: 'never' as const }
    const response = await openai.responses.create({ model, input, tools: [tool] })
    expect(response.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'ours', tools: [{ name: 'weather' }, { name: 'breaks' }] },
      { type: 'mcp_call', server_label: 'ours', name: 'weather', output: 'Rain in Oslo.', error: null },
      { type: 'message' },
    ])
    // the AI SDK takes annotations of a tool as an object or absent
    expect(response.output[0]).not.toHaveProperty('tools.0.annotations')
    expect(ours.calls).toMatchObject([{ name: 'weather', given: { place: 'Oslo' } }])
  })

  it('wait for an approval by default, and are then called once', async () => {
    const first = await openai.responses.create({ model, input, tools: [raw()] })
    const requested = first.output.find((item) => item.type === 'mcp_approval_request')
    expect(requested).toMatchObject({ server_label: 'ours', name: 'weather', arguments: '{"place":"Oslo"}' })
    expect(ours.calls).toEqual([])
    const approval_request_id = requested?.id ?? ''
    const second = await openai.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: 'mcp_approval_response', approval_request_id, approve: true }],
      tools: [raw()],
    })
    expect(second.output[0]).toMatchObject({ type: 'mcp_call', approval_request_id, output: 'Rain in Oslo.' })
    expect(second.output.some(({ type }) => type === 'mcp_list_tools')).toBe(false)
    expect(ours.calls).toHaveLength(1)
    await openai.responses.create({ model, previous_response_id: second.id, input: 'And now?', tools: [raw()] })
    expect(ours.calls).toHaveLength(1)
  })

  it('are not called after a refusal', async () => {
    const first = await openai.responses.create({ model, input, tools: [raw()] })
    const approval_request_id = first.output.find((item) => item.type === 'mcp_approval_request')?.id ?? ''
    const refusal = { type: 'mcp_approval_response' as const, approval_request_id, approve: false, reason: 'Not now.' }
    const second = await openai.responses.create({
      model,
      previous_response_id: first.id,
      input: [refusal],
      tools: [raw()],
    })
    expect(second.status).toBe('completed')
    expect(ours.calls).toEqual([])
  })

  it('stream events for their tool lists and calls', async () => {
    const tool = { ...raw(), require_approval: { never: { tool_names: ['weather'] } } }
    const stream = await openai.responses.create({ model, input, tools: [tool], stream: true })
    const types: string[] = []
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.output_item.added' && event.item.type === 'mcp_call')
        expect(event.item.status).toBe('in_progress')
    }
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress'])
    for (const type of [
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.completed',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.delta',
      'response.mcp_call_arguments.done',
      'response.mcp_call.completed',
    ])
      expect(types).toContain(type)
    expect(types.at(-1)).toBe('response.completed')
  })

  it('report the error of a failed call', async () => {
    const tool = { ...raw(), require_approval: 'never' as const }
    const { output } = await openai.responses.create({ model, input: 'Use ours__breaks now', tools: [tool] })
    const call = output.find((item) => item.type === 'mcp_call')
    expect(call).toMatchObject({ name: 'breaks', output: null, error: expect.stringContaining('No such thing.') })
  })

  it('offer only the allowed tools', async () => {
    const tool = { ...raw(), allowed_tools: ['breaks'], require_approval: 'never' as const }
    const { output } = await openai.responses.create({ model, input, tools: [tool] })
    expect(output.find((item) => item.type === 'mcp_list_tools')).toMatchObject({ tools: [{ name: 'breaks' }] })
    expect(ours.calls).toEqual([])
  })

  it('receive credentials, which are neither shown nor stored', async () => {
    const access = { authorization: 'token-of-a-response', headers: { 'x-team': 'secret-team-header' } }
    const tool = { ...raw(), ...access, require_approval: 'never' as const }
    const response = await openai.responses.create({ model, input, tools: [tool] })
    expect(ours.calls.at(-1)?.headers).toMatchObject({ authorization: 'Bearer token-of-a-response' })
    expect(JSON.stringify(response)).not.toContain('token-of-a-response')
    expect(await world.mentions('token-of-a-response')).toEqual({})
    expect(await world.mentions('secret-team-header')).toEqual({})
    const later = { model, input, tools: [tool], background: true }
    await expect(openai.responses.create(later)).rejects.toMatchObject({ status: 400, param: 'tools' })
  })

  it.each([
    [{ server_label: 'nowhere' }, 'tools[0].server_id'],
    [{ server_label: 'x', server_url: 'http://10.0.0.1/mcp' }, 'tools[0].server_url'],
    [{ server_label: 'x', server_url: 'file:///etc/passwd' }, 'tools[0].server_url'],
    [{ server_label: 'no label' }, 'tools[0].server_label'],
    [{ server_label: 'x', connector_id: 'connector_gmail' }, 'tools[0].connector_id'],
    [
      { server_label: 'x', server_url: 'http://127.0.0.1:1/mcp', require_approval: 'sometimes' },
      'tools[0].require_approval',
    ],
  ])('are refused with %j', async (tool, param) => {
    const { status, body } = await world.api.post('/v1/responses', { model, input, tools: [{ type: 'mcp', ...tool }] })
    expect([400, 422]).toContain(status)
    expect(body.error.param).toBe(param)
  })

  it('refuse an approval that was not requested', async () => {
    const answer = { type: 'mcp_approval_response' as const, approval_request_id: 'mcpr_none', approve: true }
    const request = { model, input: [answer], tools: [raw()] }
    await expect(openai.responses.create(request)).rejects.toMatchObject({ status: 400, param: 'input' })
  })

  it('must be registered if the project requires it', async () => {
    const dashboard = await world.dashboard()
    const project = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}`
    const says = (remote_servers: string) => dashboard.fetch(project, { remote_servers }, { method: 'PATCH' })
    const response = (tool: object) =>
      world.api.post('/v1/responses', { model, input, tools: [{ ...tool, require_approval: 'never' }] })
    const session = await world.api.createSession({})
    const turn = (tool: object) => world.api.fetch(`/v1/sessions/${session}/turns`, { input, tools: [tool] })
    expect(await (await says('registered')).json()).toMatchObject({ remote_servers: 'registered' })
    await vi.waitFor(async () => expect((await response(raw())).status).not.toBe(200), patience)
    const refused = await response(raw())
    expect(refused.body.error).toMatchObject({ param: 'tools[0].server_url' })
    expect((await turn(raw())).status).toBe(422)
    expect(ours.calls).toEqual([])
    expect((await response(registered)).body.output[1]).toMatchObject({ type: 'mcp_call', output: 'Rain in Oslo.' })
    await says('any')
    await vi.waitFor(async () => expect((await response(raw())).status).toBe(200), patience)
  })

  it('require a secret key', async () => {
    const agent = (await world.api.post('/v1/agents', { name: 'A', config: { model } })).body.id
    const { body } = await world.api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type: 'secret' })
    const client = world.as(body.key)
    const answer = await client.post('/v1/responses', { model, input, tools: [raw()] })
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'secret_key_required', param: 'tools[0]' } } })
  })
})
