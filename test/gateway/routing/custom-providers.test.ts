import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { callOf, keyed, refusalOf } from '#test/actors/agents/harness.ts'
import { adminOf, type ConnectionsWorld, openConnectionsWorld } from './connections-world.ts'
import { broken, json, type ModelServer, openModelServer, redirect, silent, text } from './model-server.ts'

let server: ModelServer
let world: ConnectionsWorld
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())
afterEach(() => world.close())

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const key = 'key-of-their-server'

type UseCases = ConnectionsWorld['useCases']
type Body = Parameters<UseCases['custom_providers.create']>[0]['body']
type Change = Parameters<UseCases['custom_providers.update']>[0]['body']
type Trial = Omit<Parameters<UseCases['custom_providers.test']>[0]['body'], 'api_format'>

const body = (more: Partial<Body> = {}): Body => ({
  ...{ name: 'My Rack', baseUrl: `${server.url}/v1/`, apiKey: key, format: 'openai' },
  models: [{ name: 'Llama', modelId: 'meta/llama-9' }],
  ...more,
})
const inProject = <P, B>(params: P, sent: B, project = 'prj_a') =>
  callOf({ project_id: project, ...params }, {}, sent, adminOf(project))
const open = async (options = {}) => {
  world = await openConnectionsWorld({ allowed: [server.host], ...options })
  return world.useCases
}
const create = async (useCases: UseCases, more: Partial<Body> = {}) =>
  (await useCases['custom_providers.create'](inProject({}, body(more)))).provider
const change = (useCases: UseCases, provider_id: string, to: Change) =>
  useCases['custom_providers.update'](inProject({ provider_id }, to))

describe('a custom provider', () => {
  it('is returned in the shape of the API without its key', async () => {
    const useCases = await open()
    const provider = await create(useCases)
    expect(provider).toEqual({
      ...{ id: expect.stringMatching(uuid), name: 'My Rack', base_url: `${server.url}/v1`, api_format: 'openai' },
      ...{ is_active: true, fallback_to_managed: false, weight: 1, prices: null, created_at: expect.any(String) },
      ...{ first_byte_timeout_ms: null, idle_timeout_ms: null, requests_per_minute: null, tokens_per_minute: null },
    })
    const listedModel = { id: expect.any(String), model_name: 'meta/llama-9', display_name: 'Llama', prices: null }
    expect(await useCases['custom_providers.list'](inProject({}, undefined))).toEqual({
      providers: [{ ...provider, custom_models: [listedModel] }],
    })
    expect(await useCases['custom_providers.get'](inProject({ provider_id: provider.id }, undefined))).toEqual({
      provider: { ...provider, custom_models: [{ ...listedModel, is_active: true }] },
    })
    const stored = await world.stored('custom_providers')
    expect(stored).toContain(provider.id)
    expect(stored).not.toContain(key)
  })

  it('is listed newest first and hidden from other projects', async () => {
    const useCases = await open()
    const made = [await create(useCases, { name: 'One' }), await create(useCases, { name: 'Two' })]
    const { providers } = await useCases['custom_providers.list'](inProject({}, undefined))
    expect(providers.map(({ id }) => id)).toEqual(made.map(({ id }) => id).toReversed())
    expect(await useCases['custom_providers.list'](inProject({}, undefined, 'prj_b'))).toEqual({ providers: [] })
    const theirs = inProject({ provider_id: made[0]?.id ?? '' }, undefined, 'prj_b')
    expect(await refusalOf(useCases['custom_providers.get'](theirs))).toBe('not_found')
    expect(await refusalOf(useCases['custom_providers.delete'](theirs))).toBe('not_found')
    const changed = inProject({ provider_id: made[0]?.id ?? '' }, { name: 'Theirs' }, 'prj_b')
    expect(await refusalOf(useCases['custom_providers.update'](changed))).toBe('not_found')
  })

  it('serves its models at once, and none while it is inactive or after it was deleted', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    const route = [`custom:${id} meta/llama-9`]
    for (const requested of [`custom:${id}`, 'my rack', 'My Rack/meta/llama-9', 'meta/llama-9']) {
      expect(await world.routed(requested), requested).toEqual(route)
    }
    expect(await change(useCases, id, { isActive: false })).toMatchObject({ provider: { id, is_active: false } })
    expect(await world.routed('my rack')).toBe('provider_not_active')
    await change(useCases, id, { isActive: true, name: 'Other Rack' })
    expect(await world.routed('my rack')).toBe('provider_not_active')
    expect(await world.routed('other rack')).toEqual(route)
    expect(await useCases['custom_providers.delete'](inProject({ provider_id: id }, undefined))).toEqual({
      success: true,
    })
    for (const requested of [`custom:${id}`, `custom:${id}/meta/llama-9`, 'Other Rack', 'other rack/x', 'my rack']) {
      expect(await world.routed(requested), requested).toBe('provider_not_active')
    }
    expect(await world.routed('meta/llama-9')).toBe('model_not_found')
    const other = await create(useCases, { name: 'my RACK' })
    expect(await world.routed('my rack/x')).toEqual([`custom:${other.id} x`])
    await useCases['custom_providers.delete'](inProject({ provider_id: other.id }, undefined))
    const again = useCases['custom_providers.delete'](inProject({ provider_id: id }, undefined))
    expect(await refusalOf(again)).toBe('not_found')
    expect(await world.stored('custom_providers')).not.toContain('llama')
  })

  it('has limits of its key, which null removes', async () => {
    const useCases = await open()
    const { id, ...made } = await create(useCases, { requestsPerMinute: 3, tokensPerMinute: 4_000 })
    expect(made).toMatchObject({ requests_per_minute: 3, tokens_per_minute: 4_000 })
    const [route] = await world.routing.routes.resolve('prj_a', 'meta/llama-9', 'chat')
    expect(route?.keyLimits).toEqual({ requestsPerMinute: 3, tokensPerMinute: 4_000 })
    const left = await change(useCases, id, { requestsPerMinute: null })
    expect(left).toMatchObject({ provider: { requests_per_minute: null, tokens_per_minute: 4_000 } })
  })

  it('has a weight in the pools of its models', async () => {
    const useCases = await open()
    const { id, weight } = await create(useCases, { weight: 3 })
    expect(weight).toBe(3)
    expect(await change(useCases, id, { weight: 0 })).toMatchObject({ provider: { weight: 0 } })
    expect(await change(useCases, id, { name: 'Renamed' })).toMatchObject({ provider: { weight: 0 } })
  })

  it('keeps the ids of remaining models and removes the others', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    const models = async () =>
      (await useCases['custom_providers.get'](inProject({ provider_id: id }, undefined))).provider.custom_models
    const [before] = await models()
    await change(useCases, id, {
      models: [
        { name: 'New', modelId: 'new' },
        { name: 'Llama again', modelId: 'meta/llama-9' },
      ],
    })
    expect(await models()).toEqual([
      expect.objectContaining({ model_name: 'new' }),
      { ...before, display_name: 'Llama again' },
    ])
    await change(useCases, id, { models: [] })
    expect(await world.routed(`custom:${id}`)).toBe('model_not_found')
  })

  it('has lines in the audit log with the changed fields and without its key', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    await change(useCases, id, { name: 'Other', format: 'anthropic' })
    await change(useCases, id, { name: 'Other' })
    await change(useCases, id, { apiKey: null })
    await useCases['custom_providers.delete'](inProject({ provider_id: id }, undefined))
    expect(await world.audited()).toEqual([
      'custom_provider.created',
      'custom_provider.deleted',
      'custom_provider.updated api_key',
      expect.stringMatching(/^custom_provider.updated (name api_format|api_format name)$/),
    ])
    expect(await world.stored('audit_log')).not.toContain(key)
  })

  it('has a trimmed name', async () => {
    const useCases = await open()
    const { id, name } = await create(useCases, { name: ' My Rack  ' })
    expect(name).toBe('My Rack')
    expect(await change(useCases, id, { name: '  Other ' })).toMatchObject({ provider: { name: 'Other' } })
    expect(await world.routed('other')).toHaveLength(1)
  })

  it('moves to another address only with a new key or without a key', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    const elsewhere = 'https://models.example.com/v1'
    for (const baseUrl of [elsewhere, `${server.url}/v2`])
      expect(await refusalOf(change(useCases, id, { baseUrl }))).toBe('missing_field apiKey')
    const moved = { provider: { base_url: elsewhere } }
    expect(await change(useCases, id, { baseUrl: elsewhere, apiKey: 'its-own-key' })).toMatchObject(moved)
    await change(useCases, id, { baseUrl: `${server.url}/v1`, apiKey: null })
    expect(await change(useCases, id, { baseUrl: elsewhere })).toMatchObject(moved)
  })

  it('is created once by requests with the same Idempotency-Key', async () => {
    const useCases = await open()
    const call = keyed(inProject({}, body()), 'k')
    const first = await useCases['custom_providers.create'](call)
    expect(await useCases['custom_providers.create'](call)).toEqual(first)
    expect(first.provider.id).toMatch(uuid)
  })

  it.each([
    [{ baseUrl: 'http://10.1.2.3/v1' }, 'invalid_field baseUrl'],
    [{ baseUrl: 'http://[::1]/v1' }, 'invalid_field baseUrl'],
    [{ baseUrl: 'https://models.example.com/v1/chat/completions' }, 'invalid_field baseUrl'],
    [{ name: 'custom:x' }, 'invalid_field name'],
    [{ name: '  ' }, 'invalid_field name'],
  ] as const)('is refused with %o', async (more, refusal) => {
    const useCases = await open()
    expect(await refusalOf(useCases['custom_providers.create'](inProject({}, body(more))))).toBe(refusal)
    const { id } = await create(useCases)
    expect(await refusalOf(change(useCases, id, more))).toBe(refusal)
  })
})

describe('a test of a model server', () => {
  const trial = async (given: Trial & { readonly api_format?: 'openai' | 'anthropic' }, options = {}) => {
    const useCases = await open(options)
    return useCases['custom_providers.test'](inProject({}, { api_format: 'openai' as const, ...given }))
  }
  const completion = json({
    ...{ id: 'x', object: 'chat.completion', model: 'llama-9-instruct' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'OK' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
  })
  const unsaved = () => ({ base_url: `${server.url}/v1`, api_key: key })

  it('sends a short request with the stored key and the first model of the provider', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    server.does(completion)
    const call = (more = {}) => inProject({}, { api_format: 'openai' as const, provider_id: id, ...more })
    expect(await useCases['custom_providers.test'](call())).toEqual({
      ...{ success: true, message: expect.any(String), latency_ms: expect.any(Number) },
      response: {
        ...{ model: 'llama-9-instruct', content: 'OK' },
        usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
      },
    })
    const [request] = server.received
    expect(request).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: `Bearer ${key}` } })
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: 'meta/llama-9', max_tokens: 5 })
    await useCases['custom_providers.test'](call({ model: 'another' }))
    expect(JSON.parse(server.received[1]?.body ?? '').model).toBe('another')
    const theirs = callOf(
      { project_id: 'prj_b' },
      {},
      { api_format: 'openai', provider_id: id } as const,
      adminOf('prj_b'),
    )
    expect(await refusalOf(useCases['custom_providers.test'](theirs))).toBe('not_found')
  })

  it('sends a request with the values of the body and defaults for an unsaved provider', async () => {
    server.does(completion)
    expect(await trial({ base_url: `${server.url}/v1` })).toMatchObject({ success: true })
    expect(server.received[0]?.headers.authorization).toBeUndefined()
    expect(JSON.parse(server.received[0]?.body ?? '').model).toBe('gpt-3.5-turbo')
    expect(await refusalOf(trial({}))).toBe('missing_field base_url')
  })

  it('supports the Anthropic format', async () => {
    server.does(
      json({
        ...{ type: 'message', model: 'claude-x', content: [{ type: 'text', text: 'OK' }] },
        usage: { input_tokens: 7, output_tokens: 1 },
      }),
    )
    expect(await trial({ ...unsaved(), base_url: server.url, api_format: 'anthropic' })).toMatchObject({
      success: true,
      response: {
        ...{ model: 'claude-x', content: 'OK' },
        usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
      },
    })
    expect(server.received[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    })
  })

  it.each([
    ['an error', json({ error: { message: `No model for ${key}.` } }, 404), /status 404: No model for \[key\]\./],
    ['a wrong key', json({ error: 'unauthorized' }, 401), /status 401: unauthorized/],
    ['a broken server', text('<h1>oh</h1>', 502), /status 502\.$/],
    ['no completion', json({ hello: 'world' }), /other than a chat completion/],
    ['no JSON', text('<html>'), /other than a chat completion/],
    ['a redirect to a private address', redirect('http://169.254.169.254/latest'), /redirects are not followed/],
    ['a broken connection', broken, /closed the connection/],
  ] as const)('reports the failure: %s', async (_, behaviour, error) => {
    server.does(behaviour)
    const answer = await trial(unsaved())
    expect(answer).toEqual({ success: false, error: expect.stringMatching(error), latency_ms: expect.any(Number) })
    expect(JSON.stringify(answer)).not.toContain(key)
    expect(server.received).toHaveLength(1)
  })

  it('ends when the server does not respond in time, without a latency', async () => {
    server.does(silent)
    expect(await trial(unsaved(), { timeoutMs: 200 })).toEqual({
      success: false,
      error: 'The server did not respond in time.',
    })
  })

  it('reports a stored key that cannot be opened', async () => {
    const useCases = await open()
    const { id } = await create(useCases)
    const later = await world.loseKeys()
    const call = inProject({}, { api_format: 'openai', provider_id: id } as const)
    expect(await later['custom_providers.test'](call)).toEqual({
      success: false,
      error: expect.stringContaining('again'),
    })
  })

  it('reports a private address and sends nothing to it', async () => {
    server.does(completion)
    expect(await trial(unsaved(), { allowed: [] })).toMatchObject({
      success: false,
      error: expect.stringContaining('ALLOWED_PRIVATE_HOSTS'),
    })
    expect(server.received).toEqual([])
  })
})
