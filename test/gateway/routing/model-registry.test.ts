import { createServer } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { modelUseCases } from '#gateway/routing/model-use-cases.ts'
import { models } from '#specs/resources/gateway/models.ts'
import { callOf, refusalOf, secretOf } from '#test/actors/agents/harness.ts'
import { jsonOf } from '#test/support/json-of.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { formServer } from '../apis/form-server.ts'
import { sdkFetch } from '../apis/sdk-fetch.ts'
import { openRoutingWorld } from './routing-world.ts'

type World = Awaited<ReturnType<typeof openRoutingWorld>>

type Query = Parameters<ReturnType<typeof modelUseCases>['models.list']>[0]['query']

const list = async ({ registry }: World, query: Query = {}, principal: Principal = secretOf()) =>
  jsonOf(await modelUseCases(registry)['models.list'](callOf({}, query, undefined, principal))).data
const get = async ({ registry }: World, model: string, principal: Principal = secretOf()) =>
  jsonOf(await modelUseCases(registry)['models.get'](callOf({ model }, {}, undefined, principal)))
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

describe('the list of models', () => {
  it('contains models without a key as unavailable, and the simulated model with a nominal price', async () => {
    const world = await openRoutingWorld({ simulated: 'on', simulatedUrl: 'http://127.0.0.1:9/v1' })
    const rows = new Map((await list(world)).map((row) => [row.id, row]))
    expect(rows.get('simulated-1')).toMatchObject({ available: true, pricing_status: 'nominal', provider: 'simulated' })
    expect(rows.get('gpt-4o')).toMatchObject({
      ...{ object: 'model', available: false, unavailable_reason: 'provider_not_configured', type: 'chat' },
      ...{ types: ['chat', 'vision'], context_window: 128_000, pricing_status: 'priced', source: 'service' },
      connection_id: null,
    })
    expect(ids(await list(world, { available: true }))).toEqual(['simulated-1'])
    expect((await list(world, { type: 'speech' })).length).toBeGreaterThan(0)
  })

  it('excludes the simulated model when it is off, and has unique ids that are routed to their providers', async () => {
    const keys = Object.fromEntries(
      ['openai', 'anthropic', 'google', 'groq', 'mistral', 'together', 'cerebras'].map((id) => [id, { apiKey: id }]),
    )
    const world = await openRoutingWorld({ keys })
    const rows = await list(world)
    expect(rows.some(({ provider }) => provider === 'simulated')).toBe(false)
    expect(new Set(ids(rows)).size).toBe(rows.length)
    for (const row of rows.filter(({ available, type }) => available && type === 'chat')) {
      const [route] = await world.routes.resolve('prj_a', row.id, 'chat')
      expect(route, row.id).toMatchObject({ provider: row.provider, model: row.name })
    }
  })

  it('is filtered by a provider id or an alias in any case', async () => {
    const world = await openRoutingWorld({ keys: { google: { apiKey: 'g' } } })
    const google = await list(world, { provider: 'google' })
    expect(new Set(google.map(({ provider }) => provider))).toEqual(new Set(['google']))
    expect(await list(world, { provider: 'GEMINI' })).toEqual(google)
    expect(await list(world, { provider: 'nobody' })).toEqual([])
  })

  it('contains the synced models of a connection, or the known models of its provider', async () => {
    const world = await openRoutingWorld()
    const groq = await world.connect({ provider: 'groq', name: 'Ours' })
    const rack = await world.connect({ provider: 'rack', base_url: 'https://rack.example.com/v1', models: ['llama-9'] })
    const own = await list(world, { source: 'byok', provider: 'groq' })
    expect(own.length).toBeGreaterThan(0)
    expect(own.every((row) => row.available && row.connection_id === groq)).toBe(true)
    expect(await list(world, { connection_id: rack })).toEqual([
      expect.objectContaining({
        ...{ id: 'llama-9', provider: 'rack', owned_by: 'rack', source: 'byok', connection_id: rack, available: true },
        ...{ type: 'chat', pricing_status: 'unknown', context_window: 0 },
      }),
    ])
    expect(await list(world, { source: 'byok' }, secretOf('prj_b'))).toEqual([])
    const service = await list(world, { source: 'service', provider: 'groq' })
    expect(service.every(({ available }) => !available)).toBe(true)
    expect(ids(service)).toEqual(ids(own))
  })

  it('contains custom models with their provider, and the name of the provider as a model', async () => {
    const world = await openRoutingWorld()
    const id = await world.register({ name: 'My Rack', models: ['llama-9', 'meta/llama-8'] })
    await world.register({ name: 'Off', is_active: false, models: ['hidden'] })
    const rows = await list(world, { provider: `custom:${id.toUpperCase()}` })
    expect(ids(rows)).toEqual(['llama-9', 'meta/llama-8', 'My Rack'])
    for (const row of rows) {
      expect(row).toMatchObject({
        ...{ object: 'model', owned_by: `custom:${id}`, provider: `custom:${id}`, source: 'custom', type: 'chat' },
        ...{ context_window: 0, available: true, connection_id: null, description: expect.stringContaining('My Rack') },
      })
      expect(await world.routed(row.id)).toEqual([expect.stringContaining(`custom:${id}`)])
    }
    expect(await list(world, { source: 'custom' })).toEqual(rows)
    expect(await list(world, { source: 'custom' }, secretOf('prj_b'))).toEqual([])
  })

  it('is limited to the models of the agent for its keys', async () => {
    const world = await openRoutingWorld({ keys: { openai: { apiKey: 'a' } } })
    const reach = { ...wholeReach, models: new Set(['gpt-4o-mini']) }
    const id = { kind: 'agent_key', project: 'prj_a', keyId: 'key_1', agentId: 'agt_1' } as const
    for (const keyType of ['public', 'secret'] as const) {
      const open = await list(world, {}, { ...id, keyType, allowedDomains: [], reach })
      expect(open.map((row) => row.id)).toEqual(['gpt-4o-mini'])
    }
    expect((await list(world)).length).toBeGreaterThan(1)
  })

  it('has available models first', async () => {
    const world = await openRoutingWorld({ keys: { openai: { apiKey: 'a' } } })
    const usable = (await list(world)).map(({ available }) => available)
    expect(usable.indexOf(false)).toBeGreaterThan(10)
    expect(usable.lastIndexOf(true)).toBe(usable.indexOf(false) - 1)
    expect((await list(world, { available: true })).length).toBe(usable.indexOf(false))
  })

  it('is in the format of Anthropic for the Anthropic SDK, with chat models that have every field', async () => {
    const world = await openRoutingWorld({ keys: { anthropic: { apiKey: 'a' } } })
    const send = formServer(models, modelUseCases(world.registry))
    const anthropic = new Anthropic({ apiKey: 'csk_x', baseURL: 'http://agents.example', fetch: sdkFetch(send) })
    const page = await anthropic.models.list()
    expect(page.data[0]).toMatchObject({ type: 'model', lifecycle: 'active', max_input_tokens: expect.any(Number) })
    expect(page.data.every(({ id, created_at }) => id !== '' && Date.parse(created_at) > 0)).toBe(true)
    expect(page.data.map(({ id }) => id)).not.toContain('text-embedding-3-small')
    expect(page).toMatchObject({ has_more: false, first_id: page.data[0]?.id, last_id: page.data.at(-1)?.id })
    const id = page.data[0]?.id ?? ''
    expect(await anthropic.models.retrieve(id)).toMatchObject({ type: 'model', id })
    const unknown = await anthropic.models.retrieve('no-such-model').catch((error: unknown) => error)
    expect(unknown).toMatchObject({ status: 404, type: 'not_found_error', requestID: expect.any(String) })
  })

  it('contains the models that a compatible server lists instead of those of OpenAI', async () => {
    const requested: string[] = []
    const server = createServer((request, response) => {
      requested.push(request.url ?? '')
      response.end(JSON.stringify({ data: [{ id: 'llama-9', context_length: 8192 }, { id: 'gpt-4o' }] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const world = await openRoutingWorld({ keys: { openai: { baseUrl: `http://127.0.0.1:${port}/v1` } } })
    const rows = await list(world, { provider: 'openai' })
    expect(rows.map(({ id, available, pricing_status }) => [id, available, pricing_status])).toEqual([
      ['gpt-4o', true, 'priced'],
      ['llama-9', true, 'unknown'],
    ])
    await list(world)
    expect(requested).toEqual(['/v1/models'])
    await world.close()
    server.close()
  })
})

describe('one model', () => {
  it('is found by id, by provider/id and with slashes; an available one is preferred', async () => {
    const world = await openRoutingWorld({ keys: { openai: { apiKey: 'a' } } })
    expect(await get(world, 'gpt-4o')).toMatchObject({ id: 'gpt-4o', source: 'service', available: true })
    expect(await get(world, 'openai/gpt-4o')).toMatchObject({ id: 'gpt-4o' })
    const id = await world.register({ name: 'Home', models: ['meta/llama-9'] })
    expect(await get(world, 'meta/llama-9')).toMatchObject({ owned_by: `custom:${id}` })
    expect(await get(world, 'claude-haiku-4-5')).toMatchObject({ available: false })
    const own = await world.connect({ provider: 'anthropic', api_format: 'anthropic' })
    expect(await get(world, 'claude-haiku-4-5')).toMatchObject({ available: true, connection_id: own })
  })

  it('is model_not_found when it is unknown or of another project', async () => {
    const world = await openRoutingWorld()
    await world.register({ name: 'Home', models: ['llama-9'] })
    expect(await refusalOf(get(world, 'nobodys'))).toBe('model_not_found model')
    expect(await refusalOf(get(world, 'llama-9', secretOf('prj_b')))).toBe('model_not_found model')
  })
})
