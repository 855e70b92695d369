import { afterEach, describe, expect, it } from 'vitest'
import {
  openProviders,
  type Providers,
  type ProvidersConfig,
  simulatedWanted,
} from '../../../src/actors/gateway/providers.ts'
import { startSimulatedProvider } from '../../../src/actors/gateway/simulated/server.ts'

const simulatedUrl = 'http://127.0.0.1:9/v1'
const opened: Providers[] = []
const open = (config: Partial<ProvidersConfig>): Providers => {
  const providers = openProviders({ simulated: 'auto', simulatedUrl, ...config })
  opened.push(providers)
  return providers
}
const resolved = (providers: Providers, id: string): string => {
  const { provider, model } = providers.resolve(id)
  return `${provider.id}:${model}`
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((providers) => providers.close()))
})

describe('the provider of a model', () => {
  const all = { openai: { apiKey: 'a' }, anthropic: { apiKey: 'b' }, google: { apiKey: 'c' }, simulated: 'on' } as const

  it.each([
    ['gpt-4o', 'openai:gpt-4o'],
    ['gpt-99-nobody-knows', 'openai:gpt-99-nobody-knows'],
    ['o3', 'openai:o3'],
    ['chatgpt-4o-latest', 'openai:chatgpt-4o-latest'],
    ['text-embedding-3-small', 'openai:text-embedding-3-small'],
    ['claude-haiku-4-5', 'anthropic:claude-haiku-4-5'],
    ['gemini-2.5-pro', 'google:gemini-2.5-pro'],
    ['chat-latest', 'openai:chat-latest'],
    ['simulated-1', 'simulated:simulated-1'],
    ['simulated-slow', 'simulated:simulated-slow'],
    ['openai/anything', 'openai:anything'],
    ['gemini/gemini-2.5-pro', 'google:gemini-2.5-pro'],
    ['anthropic/claude-x', 'anthropic:claude-x'],
  ])('of %s is %s', (id, expected) => {
    expect(resolved(open(all), id)).toBe(expected)
  })

  it('is unknown for an unknown id when OpenAI itself is configured', () => {
    expect(() => resolved(open(all), 'llama-4')).toThrow(expect.objectContaining({ code: 'model_not_found' }))
    const own = open({ openai: { apiKey: 'a', baseUrl: 'https://api.openai.com/v1/' } })
    expect(() => resolved(own, 'llama-4')).toThrow(expect.objectContaining({ code: 'model_not_found' }))
  })

  it('of an unknown id is the compatible server that a base URL names, with the whole id', () => {
    const providers = open({ openai: { baseUrl: 'http://127.0.0.1:9/v1' } })
    expect(resolved(providers, 'meta-llama/Llama-4')).toBe('openai:meta-llama/Llama-4')
  })

  it('of simulated-1 is a compatible server when ours is off: it may be a simulated one run apart', () => {
    const providers = open({ openai: { baseUrl: 'http://127.0.0.1:9/v1' } })
    expect(resolved(providers, 'simulated-1')).toBe('openai:simulated-1')
  })

  it('without a key is provider_not_configured', () => {
    const providers = open({ openai: { apiKey: 'a' } })
    expect(() => resolved(providers, 'claude-haiku-4-5')).toThrow(
      expect.objectContaining({ code: 'provider_not_configured' }),
    )
  })

  it('is simulated only when nothing else is configured, unless told otherwise', () => {
    expect(simulatedWanted({ simulated: 'auto' })).toBe(true)
    expect(simulatedWanted({ simulated: 'auto', google: { apiKey: 'c' } })).toBe(false)
    expect(simulatedWanted({ simulated: 'on', google: { apiKey: 'c' } })).toBe(true)
    expect(simulatedWanted({ simulated: 'off' })).toBe(false)
    const providers = open({ openai: { apiKey: 'a' } })
    expect(() => resolved(providers, 'simulated-1')).toThrow(expect.objectContaining({ code: 'model_not_found' }))
  })
})

describe('the list of models', () => {
  it('names models without a key as unavailable, and the simulated one as such', () => {
    const providers = open({})
    const rows = new Map(providers.list().map((row) => [row.id, row]))
    expect(providers.onlySimulated).toBe(true)
    expect(providers.defaultModel).toBe('simulated-1')
    expect(rows.get('simulated-1')).toMatchObject({ available: true, pricing_status: 'nominal', provider: 'simulated' })
    expect(rows.get('gpt-4o')).toMatchObject({
      object: 'model',
      available: false,
      unavailable_reason: 'provider_not_configured',
      type: 'chat',
      types: ['chat', 'vision'],
      context_window: 128_000,
      pricing_status: 'priced',
      source: 'service',
      connection_id: null,
    })
  })

  it('leaves the simulated model out when it is off', () => {
    const providers = open({ anthropic: { apiKey: 'b' } })
    expect(providers.list().some((row) => row.provider === 'simulated')).toBe(false)
    expect(providers.defaultModel).toBe('claude-haiku-4-5')
  })

  it('shows what a compatible server lists, and nothing of OpenAI that it does not have', async () => {
    const server = await startSimulatedProvider()
    const providers = open({ openai: { baseUrl: server.url }, simulated: 'off' })
    await providers.refresh(new AbortController().signal)
    const own = providers.list().filter((row) => row.provider === 'openai')
    expect(own.map((row) => [row.id, row.pricing_status])).toEqual([['simulated-1', 'unknown']])
    await server.close()
  })
})
