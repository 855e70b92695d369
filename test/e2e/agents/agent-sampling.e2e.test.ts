import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openAi } from '#test/gateway/call/wire-samples.ts'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

const sampling = {
  top_p: 0.4,
  stop: ['END'],
  response_format: { type: 'json_object' },
  reasoning_effort: 'low',
  seed: 7,
}
const lookUp = {
  type: 'function',
  function: { name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } },
}
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
const frame = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const calling = `${frame({ role: 'assistant', tool_calls: [call] }, null)}${frame({}, 'tool_calls')}data: [DONE]\n\n`

describe('the model settings of an agent', () => {
  let provider: ModelServer
  let world: World
  let api: Api

  beforeAll(async () => {
    provider = await openModelServer((response, { method, body }) => {
      if (method === 'GET') return response.end(JSON.stringify({ data: [] }))
      const { model, tool_choice } = JSON.parse(body)
      if (model === 'broken-1') return response.writeHead(500).end('{}')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(typeof tool_choice === 'object' ? calling : openAi.text)
    })
    const env = { OPENAI_API_KEY: 'sk-of-the-house', OPENAI_BASE_URL: `${provider.url}/v1` }
    world = await World.start({ tools: [provider], env })
    api = world.api
  })
  afterAll(async () => {
    await world.stop()
    await provider.close()
  })

  const newAgent = async (config: object): Promise<string> => {
    const { status, body } = await api.post('/v1/agents', { name: 'Asker', config: { model: 'small-1', ...config } })
    expect(status, JSON.stringify(body)).toBe(200)
    return body.id
  }
  const posted = () => provider.received.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body))
  const turn = async (agent_id: string, body: object = {}) => {
    provider.received.length = 0
    const session = await api.createSession({ agent_id })
    return (await api.turn(session, { input: 'Hi', ...body })).until(endsTurn)
  }

  it('are sent with its turns and runs, and not with other turns', async () => {
    const agent = await newAgent(sampling)
    expect(await turn(agent)).toMatchObject({ event: 'turn.completed' })
    expect(posted()).toMatchObject([{ model: 'small-1', stream: true, ...sampling }])
    provider.received.length = 0
    const { id } = (await api.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Hi' } })).body
    await vi.waitFor(async () => expect((await api.get(`/v1/runs/${id}`)).body.status).toBe('completed'), patience)
    expect(posted()).toMatchObject([sampling])
    const session = await api.createSession()
    provider.received.length = 0
    await (await api.turn(session, { input: 'Hi', model: 'small-1' })).until(endsTurn)
    for (const field of Object.keys(sampling)) expect(posted()[0]).not.toHaveProperty(field)
  })

  it('fall back to the next model, unless the turn names a model', async () => {
    const agent = await newAgent({ model: 'broken-1', models: ['small-2'] })
    expect(await turn(agent)).toMatchObject({ event: 'turn.completed' })
    expect(posted().at(-1)).toMatchObject({ model: 'small-2' })
    expect(posted().at(-1)).not.toHaveProperty('models')
    expect(await turn(agent, { model: 'broken-1' })).toMatchObject({ event: 'turn.failed' })
    expect(new Set(posted().map(({ model }) => model))).toEqual(new Set(['broken-1']))
  })

  it('force a tool call only in the first model call of a turn', async () => {
    const tool_choice = { type: 'function', function: { name: 'look_up' } }
    const agent = await newAgent({
      tools: [lookUp],
      tool_choice,
      parallel_tool_calls: false,
      pause_on_tool_calls: true,
    })
    provider.received.length = 0
    const session = await api.createSession({ agent_id: agent })
    const paused = await (await api.turn(session, { input: 'Hi' })).until(({ event }) => event === 'turn.paused')
    expect(posted()).toMatchObject([{ tool_choice, parallel_tool_calls: false }])
    const { action_id } = paused.data
    const body = { action_id, tool_results: [{ action_id, output: 'found' }] }
    const resumed = await api.stream(`/v1/sessions/${session}/approve`, body)
    expect(await resumed.until(endsTurn)).toMatchObject({ event: 'turn.completed' })
    expect(posted()[1]).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: false })
  })

  it.each([
    ['topp', { topp: 1 }, 'unknown_field'],
    ['top_p', { top_p: 2 }, 'invalid_field'],
    ['models', { models: 'small-2' }, 'invalid_field'],
    ['retries', { retries: 3 }, 'unknown_field'],
  ])('are refused with the invalid field %s', async (field, config, code) => {
    const answer = await api.post('/v1/agents', { name: 'Asker', config: { model: 'small-1', ...config } })
    expect([answer.status, answer.body.error.code]).toEqual([422, code])
    expect(answer.body.error.param).toContain(field)
  })
})
