import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openAi } from '#test/gateway/call/wire-samples.ts'
import { type ModelServer, openModelServer } from '#test/gateway/routing/model-server.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

const key = 'sk-of-a-customer-0123456789'
const completion = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
}

describe('a project', () => {
  let provider: ModelServer
  let world: World
  let dashboard: Api
  let project: string

  beforeAll(async () => {
    provider = await openModelServer((response, { method, body }) => {
      if (method === 'GET')
        return response.end(JSON.stringify({ data: [{ id: 'gpt-4o-mini' }, { id: 'meta/llama-9' }] }))
      if (JSON.parse(body).stream !== true) return response.end(JSON.stringify(completion))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(openAi.text)
    })
    world = await World.start({ tools: [provider] })
    dashboard = await world.dashboard()
    project = (await dashboard.get('/api/projects')).body.data[0].id
  })
  afterAll(async () => {
    await world.stop()
    await provider.close()
  })

  const turn = async (model: string): Promise<string> => {
    const session = await world.api.createSession()
    const frames = await (await world.api.turn(session, { input: 'Hi', model })).until(endsTurn)
    expect(frames.event).toBe('turn.completed')
    return String(frames.data.output)
  }
  const chat = (model: string) =>
    world.api.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] })
  const answersChat = { status: 200, body: { choices: [{ message: { content: 'Hello' } }] } }
  const usage = async () => (await world.api.get('/v1/usage/events')).body.data

  it('is served with its own provider key without a service charge, and the key is in no log or table', async () => {
    const given = { name: 'Ours', provider: 'openai', base_url: `${provider.url}/v1`, api_key: key }
    const { body: connection } = await world.api.post('/v1/provider-connections', given)
    const synced = await world.api.post(`/v1/provider-connections/${connection.id}/model-syncs`)
    expect(synced).toMatchObject({ status: 201, body: { model_count: 2 } })
    await world.api.post(`/v1/provider-connections/${connection.id}/model-syncs/${synced.body.id}/apply`)
    for (const path of ['/v1/models/meta/llama-9', '/api/v1/models/meta%2Fllama-9']) {
      expect((await world.api.get(path)).body, path).toMatchObject({ id: 'meta/llama-9', connection_id: connection.id })
    }
    expect(await turn('gpt-4o-mini')).toBe('Hello wörld 🌍')
    await vi.waitFor(
      async () =>
        expect((await usage())[0]).toMatchObject({ billing_mode: 'byok', service_charge_usd: '0', provider: 'openai' }),
      patience,
    )
    expect(await chat('openai/gpt-4o-mini')).toMatchObject(answersChat)
    expect(provider.received.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
    expect(await world.mentions(key)).toEqual({})
    expect(world.server.log()).not.toContain(key)
  })

  it('spreads its calls over several keys of a provider by the routing policy', async () => {
    const first = (await world.api.get('/v1/routing-policy')).body
    expect(first).toEqual({ strategy: 'priority', sticky: true, rules: [], updated_at: null })
    const given = { provider: 'openai', base_url: `${provider.url}/v1`, weight: 3 }
    const keys = ['sk-first-of-two-0123456789', 'sk-second-of-two-0123456789']
    const made = await Promise.all(
      keys.map((api_key) => world.api.post('/v1/provider-connections', { ...given, name: 'Pool', api_key })),
    )
    expect(made.map(({ body }) => body.weight)).toEqual([3, 3])
    const used = async () => {
      const from = provider.received.length
      const answers = []
      for (let call = 0; call < 12; call++) answers.push(await chat('openai/gpt-4o-mini'))
      for (const { status, headers } of answers)
        expect([status, headers.get('x-route')]).toEqual([200, expect.stringMatching(/^\w+;try=1;of=\d$/)])
      return new Set(provider.received.slice(from).map(({ headers }) => headers.authorization))
    }
    expect((await used()).size).toBe(1)
    const changed = await world.api.post(
      '/v1/routing-policy',
      { strategy: 'weighted', sticky: false },
      { method: 'PATCH' },
    )
    expect(changed).toMatchObject({ status: 200, body: { strategy: 'weighted', sticky: false } })
    expect((await used()).size).toBeGreaterThan(1)
    await world.api.post('/v1/routing-policy', { sticky: true }, { method: 'PATCH' })
    expect((await used()).size).toBe(1)
    expect(await world.api.post('/v1/routing-policy', { strategy: 'random' }, { method: 'PATCH' })).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_field', param: 'strategy' } },
    })
    for (const { body } of made) {
      expect(
        await world.api.post(`/v1/provider-connections/${body.id}`, { weight: 0 }, { method: 'PATCH' }),
      ).toMatchObject({
        body: { weight: 0 },
      })
      await world.api.get(`/v1/provider-connections/${body.id}`, { method: 'DELETE' })
    }
  })

  it('routes calls by the rules of its policy, and copies a share of them to another model', async () => {
    const update = (rules: readonly object[]) => world.api.post('/v1/routing-policy', { rules }, { method: 'PATCH' })
    const rules = [
      { name: 'eu', when: { tags: ['eu'] }, model: 'simulated-2' },
      { name: 'compare', when: { models: ['simulated-1'] }, shadow_model: 'simulated-3', percent: 100 },
    ]
    expect(await update(rules)).toMatchObject({ status: 200, body: { rules } })
    const body = { model: 'simulated-1', messages: [{ role: 'user', content: 'Hi' }] }
    const tagged = await world.api.post('/v1/chat/completions', body, { headers: { 'x-route-tags': 'eu' } })
    expect([tagged.body.model, tagged.headers.get('x-route')]).toEqual(['simulated-2', 'rule=eu;shadow=compare'])
    expect((await chat('simulated-2')).headers.get('x-route')).toBeNull()
    const shadows = async () => (await world.api.get('/v1/request-log?operation=shadow')).body.data
    await vi.waitFor(
      async () => expect(await shadows()).toMatchObject([{ model: 'simulated-3', status: 200 }]),
      patience,
    )
    const wrong: readonly (readonly [object[], string])[] = [
      [
        [
          { name: 'a', model: 'simulated-1' },
          { name: 'a', model: 'simulated-1' },
        ],
        'rules[1].name',
      ],
      [[{ name: 'a' }], 'rules[0].model'],
      [[{ name: 'A b', model: 'simulated-1' }], 'rules[0].name'],
      [[{ name: 'a', shadow_model: 'no-such-model' }], 'rules[0].shadow_model'],
      [[{ name: 'a', model: 'simulated-1', when: { min_bytes: 2, max_bytes: 1 } }], 'rules[0].when.max_bytes'],
      [[{ name: 'a', model: 'simulated-1', percent: 101 }], 'rules[0].percent'],
    ]
    for (const [given, param] of wrong)
      expect(await update(given), param).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_field', param } },
      })
    expect((await update([])).body.rules).toEqual([])
  })

  it('is served by its own custom provider until that is deleted', async () => {
    const given = { name: 'Rack', baseUrl: `${provider.url}/v1`, format: 'openai', apiKey: key }
    const models = [{ name: 'Llama', modelId: 'llama-7' }]
    const { status, body } = await dashboard.post(`/api/projects/${project}/providers`, { ...given, models })
    expect(status).toBe(201)
    const { id } = body.provider
    expect((await world.api.get(`/v1/models?provider=custom:${id}`)).body.data).toHaveLength(2)
    expect(await turn('rack')).toBe('Hello wörld 🌍')
    await vi.waitFor(
      async () =>
        expect((await usage())[0]).toMatchObject({
          billing_mode: 'custom',
          provider: `custom:${id}`,
          model: 'llama-7',
        }),
      patience,
    )
    expect(await chat(`custom:${id}/llama-7`)).toMatchObject(answersChat)
    expect(await world.mentions(key)).toEqual({})
    await dashboard.get(`/api/projects/${project}/providers/${id}`, { method: 'DELETE' })
    const refused = { status: 502, body: { error: { code: 'provider_not_active', param: 'model' } } }
    expect(await chat(`custom:${id}`)).toMatchObject(refused)
    const session = await world.api.createSession()
    await expect(world.api.turn(session, { input: 'Hi', model: 'rack' })).rejects.toMatchObject({ status: 502 })
  })
})
