import { describe, expect, it } from 'vitest'
import type { ProviderKeys } from '#gateway/routing/managed-providers.ts'
import { simulatedWanted } from '#gateway/routing/managed-providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/scope.ts'
import { openRoutingWorld } from './routing-world.ts'

const every: Readonly<Record<string, ProviderKeys>> = Object.fromEntries(
  ['openai', 'anthropic', 'google', 'groq', 'openrouter', 'deepseek', 'elevenlabs', 'deepgram'].map((id) => [
    id,
    { apiKey: `key-${id}` },
  ]),
)

describe('the route with the keys of the installation', () => {
  it.each([
    ['gpt-4o', 'openai gpt-4o'],
    ['gpt-99-nobody-knows', 'openai gpt-99-nobody-knows'],
    ['o3', 'openai o3'],
    ['claude-haiku-4-5', 'anthropic claude-haiku-4-5'],
    ['gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['gemini/gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['OpenAI/gpt-4o', 'openai gpt-4o'],
    ['anthropic/claude-x', 'anthropic claude-x'],
    ['deepseek-next', 'deepseek deepseek-next'],
    ['openrouter/meta-llama/llama-9', 'openrouter meta-llama/llama-9'],
    ['groq/openai/gpt-oss-120b', 'groq openai/gpt-oss-120b'],
  ])('for %s is %s', async (id, expected) => {
    const { routed } = await openRoutingWorld({ keys: every })
    expect((await routed(id))[0]).toBe(`managed ${expected}`)
  })

  it('has the base URL with a version, and the key of its provider', async () => {
    const keys = {
      anthropic: { apiKey: 'a', baseUrl: 'http://127.0.0.1:9/' },
      google: { apiKey: 'g', baseUrl: 'http://127.0.0.1:9/v1beta' },
      openai: { apiKey: '', baseUrl: 'http://127.0.0.1:9/v1' },
    }
    const { routes } = await openRoutingWorld({ keys })
    expect(await routes.resolve('prj_a', 'claude-haiku-4-5', 'chat')).toEqual([
      {
        ...{ model: 'claude-haiku-4-5', provider: 'anthropic', format: 'anthropic', source: 'managed' },
        ...{ baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'a', connectionId: null },
      },
    ])
    const [google] = await routes.resolve('prj_a', 'gemini-2.5-pro', 'chat')
    expect(google?.baseUrl).toBe('http://127.0.0.1:9/v1beta')
    const [openai] = await routes.resolve('prj_a', 'gpt-4o', 'chat')
    expect(openai).toMatchObject({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: null })
  })

  it.each([
    ['gpt-3.5-turbo', 'vision', 'gpt-4o-mini'],
    ['gpt-3.5-turbo', 'chat', 'gpt-3.5-turbo'],
    ['gpt-4o', 'vision', 'gpt-4o'],
    ['gpt-99-nobody-knows', 'vision', 'gpt-99-nobody-knows'],
  ] as const)('for %s that needs %s uses %s, since models without vision are replaced', async (id, need, expected) => {
    const { routes } = await openRoutingWorld({ keys: every })
    const [first] = await routes.resolve('prj_a', id, need)
    expect(first?.model).toBe(expected)
  })

  it('is provider_not_configured without a key and model_not_found for an unknown model', async () => {
    const { routed } = await openRoutingWorld({ keys: { openai: { apiKey: 'a' } } })
    expect(await routed('claude-haiku-4-5')).toBe('provider_not_configured')
    expect(await routed('groq/anything')).toBe('provider_not_configured')
    expect(await routed('llama-4')).toBe('model_not_found')
    expect(await routed('nobody/llama-4')).toBe('model_not_found')
    expect(await (await openRoutingWorld({ keys: every })).routed('google/gemini-\ud800')).toBe('model_not_found')
    expect(await routed('simulated-1')).toBe('model_not_found')
    const own = await openRoutingWorld({ keys: { openai: { apiKey: 'a', baseUrl: 'https://api.openai.com/v1/' } } })
    expect(await own.routed('llama-4')).toBe('model_not_found')
  })

  it('names the missing provider and the remedy, and an unknown model differently', async () => {
    const simulated = { simulated: 'on', simulatedUrl: 'http://127.0.0.1:9/v1' } as const
    const { routes } = await openRoutingWorld({ keys: { openai: { apiKey: 'a' } }, ...simulated })
    const refusal = async (model: string) => {
      const error = await Promise.resolve()
        .then(() => routes.resolve('prj_a', model, 'chat'))
        .catch((thrown: unknown) => thrown)
      return error instanceof ServiceError ? [error.code, error.message, error.details.param] : error
    }
    expect(await refusal('claude-haiku-4-5')).toEqual([
      'provider_not_configured',
      'No key is configured for Anthropic. Set ANTHROPIC_API_KEY on the server, or add your own key with POST /v1/provider-connections. The model simulated-1 needs no key.',
      'model',
    ])
    expect(await refusal('llama-"4"')).toEqual([
      'model_not_found',
      'There is no model "llama-\\"4\\"". GET /v1/models lists the models of this server.',
      'model',
    ])
  })

  it('for an unknown id leads to the compatible server of the base URL, with the complete id', async () => {
    const { routed } = await openRoutingWorld({ keys: { openai: { baseUrl: 'http://127.0.0.1:9/v1' } } })
    expect(await routed('meta-llama/Llama-4')).toEqual(['managed openai meta-llama/Llama-4'])
    expect(await routed('simulated-1')).toEqual(['managed openai simulated-1'])
    expect(await routed('claude-haiku-4-5')).toBe('provider_not_configured')
  })

  it('is model_not_found when the provider has no model of the kind', async () => {
    const { routed } = await openRoutingWorld({ keys: every })
    expect(await routed('claude-haiku-4-5', 'prj_a', 'embedding')).toBe('model_not_found')
    expect(await routed('eleven_turbo_v9', 'prj_a', 'chat')).toBe('model_not_found')
    expect(await routed('eleven_turbo_v9', 'prj_a', 'speech')).toEqual(['managed elevenlabs eleven_turbo_v9'])
  })

  it('leads to the simulated provider only when no other is configured, unless it is set to on or off', async () => {
    expect(simulatedWanted({ simulated: 'auto', keys: {} })).toBe(true)
    expect(simulatedWanted({ simulated: 'auto', keys: { deepgram: { apiKey: 'c' } } })).toBe(false)
    expect(simulatedWanted({ simulated: 'on', keys: { google: { apiKey: 'c' } } })).toBe(true)
    expect(simulatedWanted({ simulated: 'off', keys: {} })).toBe(false)
    const { routed, managed } = await openRoutingWorld({ simulated: 'auto', simulatedUrl: 'http://127.0.0.1:9/v1' })
    expect(await routed('simulated-slow')).toEqual(['simulated simulated simulated-slow'])
    expect(managed).toMatchObject({ defaultModel: 'simulated-1', onlySimulated: true })
  })
})

describe('the route with the keys of a project', () => {
  it('leads to its connections by age, followed by the installation where all of them allow that', async () => {
    const { connect, change, own, routed } = await openRoutingWorld({ keys: every })
    const first = await connect({ name: 'first', fallback_to_managed: true })
    await connect({ name: 'second', fallback_to_managed: true })
    await connect({ provider: 'groq' })
    expect(await routed('gpt-4o')).toEqual(['byok openai gpt-4o', 'byok openai gpt-4o', 'managed openai gpt-4o'])
    expect(await routed('openai/gpt-4o')).toEqual(await routed('gpt-4o'))
    expect(await routed('gpt-4o', 'prj_b')).toEqual(['managed openai gpt-4o'])
    // All of the connections must allow the fallback.
    await change(first, { fallback_to_managed: false })
    own.changed('prj_a')
    expect(await routed('gpt-4o')).toEqual(['byok openai gpt-4o', 'byok openai gpt-4o'])
  })

  it('excludes the key of the installation without permission, also when the own key cannot be opened', async () => {
    const { connect, change, own, routed } = await openRoutingWorld({ keys: every })
    const id = await connect()
    expect(await routed('gpt-4o')).toEqual(['byok openai gpt-4o'])
    await change(id, { api_key: 'sealed elsewhere' })
    own.changed('prj_a')
    expect(await routed('gpt-4o')).toBe('provider_not_active')
    expect(await routed('claude-haiku-4-5')).toEqual(['managed anthropic claude-haiku-4-5'])
    await change(id, { is_active: false })
    own.changed('prj_a')
    expect(await routed('gpt-4o')).toEqual(['managed openai gpt-4o'])
  })

  it('has the connection and its key, and excludes inactive connections', async () => {
    const { connect, change, routes, own, routed } = await openRoutingWorld()
    const id = await connect({ key: 'sk-mine', base_url: 'https://proxy.example.com/v1/' })
    expect(await routes.resolve('prj_a', 'gpt-4o', 'chat')).toEqual([
      {
        ...{ model: 'gpt-4o', provider: 'openai', format: 'openai', source: 'byok' },
        ...{ baseUrl: 'https://proxy.example.com/v1', apiKey: 'sk-mine', connectionId: id },
        ...{ weight: 1, pool: { strategy: 'priority', sticky: true } },
      },
    ])
    await change(id, { is_active: false })
    own.changed('prj_a')
    expect(await routed('gpt-4o')).toBe('provider_not_configured')
  })

  it('is found by a synced model, and by the name of an unknown provider', async () => {
    const { connect, routed } = await openRoutingWorld({ keys: every })
    await connect({ provider: 'rack', base_url: 'https://rack.example.com/v1', models: ['llama-4', 'meta/llama-5'] })
    expect(await routed('llama-4')).toEqual(['byok rack llama-4'])
    expect(await routed('meta/llama-5')).toEqual(['byok rack meta/llama-5'])
    expect(await routed('Rack/anything/else')).toEqual(['byok rack anything/else'])
    expect(await routed('llama-6')).toBe('model_not_found')
  })

  it('excludes only a connection whose key cannot be opened', async () => {
    const { connect, change, own, routed } = await openRoutingWorld()
    const id = await connect()
    await connect({ provider: 'groq' })
    await change(id, { api_key: 'sealed elsewhere' })
    own.changed('prj_a')
    expect(await routed('gpt-4o')).toBe('provider_not_active')
    expect(await routed('groq/x')).toEqual(['byok groq x'])
  })
})

describe('the route to a custom provider', () => {
  it('is found by id, by name, by name and model, and by model', async () => {
    const { register, routed } = await openRoutingWorld({ keys: every })
    const id = await register({ name: 'My Rack', models: ['llama-4', 'meta/llama-5'] })
    const to = (model: string) => [`custom custom:${id} ${model}`]
    expect(await routed(`custom:${id}`)).toEqual(to('llama-4'))
    expect(await routed(`custom:${id}/meta/llama-5`)).toEqual(to('meta/llama-5'))
    expect(await routed('my rack')).toEqual(to('llama-4'))
    expect(await routed('MY RACK/meta/llama-5')).toEqual(to('meta/llama-5'))
    expect(await routed('My Rack/My llama-4')).toEqual(to('llama-4'))
    expect(await routed('My Rack/llama-6')).toEqual(to('llama-6'))
    expect(await routed('meta/llama-5')).toEqual(to('meta/llama-5'))
  })

  it('follows a connection and precedes the installation when both allow the fallback', async () => {
    const { register, connect, routed } = await openRoutingWorld({ keys: every })
    const id = await register({ models: ['gpt-4o'], fallback_to_managed: true })
    await register({ models: ['gpt-4o-mini'] })
    expect(await routed('gpt-4o-mini')).toEqual([expect.stringMatching(/^custom /)])
    await connect({ fallback_to_managed: true })
    expect(await routed('gpt-4o')).toEqual([
      'byok openai gpt-4o',
      `custom custom:${id} gpt-4o`,
      'managed openai gpt-4o',
    ])
  })

  it('does not exist for an inactive or foreign provider or one without models', async () => {
    const { register, routed } = await openRoutingWorld()
    await register({ name: 'Off', is_active: false, models: ['llama-4'] })
    const empty = await register({ name: 'Empty' })
    const other = await register({ name: 'Other', models: ['llama-9'] })
    for (const requested of ['llama-4', `custom:${empty}`, 'Empty', 'custom:', 'custom:x/y']) {
      expect(await routed(requested), requested).toBe('model_not_found')
    }
    expect(await routed(`custom:${other}`, 'prj_b')).toBe('model_not_found')
    expect(await routed('Other', 'prj_b')).toBe('model_not_found')
  })

  it('is the only one when the request names the provider, also when the installation could serve the name', async () => {
    const { register, connect, routed } = await openRoutingWorld({
      keys: { ...every, openai: { baseUrl: 'http://127.0.0.1:9/v1' } },
    })
    const acme = await register({ name: 'Acme', models: ['m1'] })
    const groq = await register({ name: 'Groq', models: ['m1'] })
    expect(await routed('acme/gpt-4o')).toEqual([`custom custom:${acme} gpt-4o`])
    expect(await routed('groq/m2')).toEqual([`custom custom:${groq} m2`])
    const connection = await connect({ provider: 'rack', base_url: 'https://rack.example.com/v1' })
    expect(await routed('rack/gpt-4o')).toEqual(['byok rack gpt-4o'])
    expect(connection).toMatch(/^pvc_/)
  })

  it('is refused for a named provider that is inactive or lost its key, without use of the compatible server', async () => {
    const { register, connect, change, own, routed, tables } = await openRoutingWorld({
      keys: { ...every, openai: { baseUrl: 'http://127.0.0.1:9/v1' } },
    })
    const off = await register({ name: 'Off', is_active: false, models: ['llama-4'] })
    const lost = await register({ name: 'Lost', key: 'sk', models: ['llama-4'] })
    await tables.customs.change(projectScope('prj_a'), lost, {
      edit: ({ data }) => ({ ...data, api_key: 'sealed elsewhere' }),
    })
    const rack = await connect({ provider: 'rack', base_url: 'https://rack.example.com/v1' })
    await change(rack, { is_active: false })
    own.changed('prj_a')
    for (const requested of ['off', 'OFF/m1', `custom:${off}`, `custom:${off}/m1`, 'lost/m1', 'Rack/m1']) {
      expect(await routed(requested), requested).toBe('provider_not_active')
    }
    // This id names no provider, so that the compatible server may have it.
    expect(await routed('llama-4')).toEqual(['managed openai llama-4'])
  })

  it('does not hide voices of a managed provider with the same name', async () => {
    const { register, routed } = await openRoutingWorld({ keys: every })
    await register({ name: 'OpenAI', models: ['m1'] })
    expect(await routed('openai/tts-1', 'prj_a', 'speech')).toEqual(['managed openai tts-1'])
  })

  it('leads to the older active provider of two with the same name', async () => {
    const { register, routed } = await openRoutingWorld()
    await register({ name: 'Twin', is_active: false, models: ['a'] })
    const id = await register({ name: 'twin', models: ['b'] })
    expect(await routed('TWIN')).toEqual([`custom custom:${id} b`])
  })
})

describe('several custom providers with one model', () => {
  const twins = [
    { name: 'Twin', models: ['m1', 'a'], key: 'one' },
    { name: 'twin', models: ['m1', 'b'], key: 'two' },
  ] as const

  it('are a pool by the routing policy and their weights, named or by the model alone', async () => {
    const { register, routes } = await openRoutingWorld({ keys: every })
    for (const { models, ...rest } of twins) await register({ ...rest, models: [...models], weight: 2 })
    const shown = async (model: string) =>
      (await routes.resolve('prj_a', model, 'chat')).map(({ apiKey, pool, weight, ...route }) => [
        route.model,
        apiKey,
        weight,
        pool,
      ])
    const pool = { strategy: 'priority', sticky: true }
    const both = [
      ['m1', 'one', 2, pool],
      ['m1', 'two', 2, pool],
    ]
    expect(await shown('m1')).toEqual(both)
    expect(await shown('TWIN/m1')).toEqual(both)
    expect(await shown('twin/My m1')).toEqual(both)
    expect(await shown('twin')).toEqual(both)
    expect(await shown('twin/b')).toEqual([['b', 'two', 2, pool]])
    expect(await shown('twin/unknown')).toEqual([['unknown', 'one', 2, pool]])
  })

  it('are followed by the installation only when each of them allows that', async () => {
    const { register, routed } = await openRoutingWorld({ keys: every })
    const first = await register({ name: 'a', models: ['gpt-4o'], fallback_to_managed: true })
    const second = await register({ name: 'b', models: ['gpt-4o'] })
    expect(await routed('gpt-4o')).toEqual([`custom custom:${first} gpt-4o`, `custom custom:${second} gpt-4o`])
    expect(await routed('a')).toEqual([`custom custom:${first} gpt-4o`])
    expect(await routed(`custom:${second}/gpt-4o`)).toEqual([`custom custom:${second} gpt-4o`])
  })
})

describe('the cache of routes', () => {
  it('answers synchronously with the same objects for a project in constant use, and refreshes every few seconds', async () => {
    let now = 1_000_000
    const { connect, routes, reads, own, change } = await openRoutingWorld({ now: () => now })
    const id = await connect()
    const first = await routes.resolve('prj_a', 'gpt-4o', 'chat')
    const after = reads.count
    for (let request = 0; request < 100; request++) {
      expect(routes.resolve('prj_a', 'gpt-4o', 'chat')).toBe(first)
    }
    expect(reads.count).toBe(after)
    now += 3000
    expect(routes.resolve('prj_a', 'gpt-4o', 'chat')).toBe(first)
    await own.of('prj_a')
    expect(reads.count).toBeGreaterThan(after)
    expect(await routes.resolve('prj_a', 'gpt-4o', 'chat')).toBe(first)
    await change(id, { name: 'Another' })
    own.changed('prj_a')
    expect(await routes.resolve('prj_a', 'gpt-4o', 'chat')).not.toBe(first)
  })

  it('has changes of other nodes within five seconds, and at once with notifications between nodes', async () => {
    let now = 1_000_000
    const silent = await openRoutingWorld({ now: () => now })
    const other = await openRoutingWorld({ now: () => now, records: silent.records })
    expect(await silent.routed('gpt-4o')).toBe('provider_not_configured')
    await other.connect()
    expect(await silent.routed('gpt-4o')).toBe('provider_not_configured')
    now += 5000
    expect(await silent.routed('gpt-4o')).toEqual(['byok openai gpt-4o'])

    const listeners: ((data: { readonly project: string }) => void)[] = []
    const fanOut = {
      announce: (_topic: string, data: object) => {
        for (const listener of listeners) if ('project' in data) listener({ project: String(data.project) })
      },
      subscribe: (_topic: string, listener: (data: { readonly project: string }) => void) =>
        void listeners.push(listener),
    }
    const one = await openRoutingWorld({ now: () => now, fanOut })
    const two = await openRoutingWorld({ now: () => now, fanOut, records: one.records })
    expect(await one.routed('gpt-4o')).toBe('provider_not_configured')
    await two.connect()
    expect(await one.routed('gpt-4o')).toEqual(['byok openai gpt-4o'])
  })
})
