import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { costOfUnits, priceAt } from '#gateway/prices/prices.ts'
import { providers } from '#specs/data/providers.ts'
import { callOf } from '#test/actors/agents/harness.ts'
import { type ConnectionsWorld, openConnectionsWorld } from './connections-world.ts'
import { json, type ModelServer, openModelServer } from './model-server.ts'

let server: ModelServer
let world: ConnectionsWorld

beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  world = await openConnectionsWorld({ allowed: [server.host] })
})
afterEach(() => world.close())

type Given = Parameters<ConnectionsWorld['useCases']['provider_connections.create']>[0]['body']

const connect = (given: Pick<Given, 'provider'> & Partial<Given>) => {
  const usual = { name: 'Mine', is_active: true, fallback_to_managed: false, weight: 1 }
  return world.useCases['provider_connections.create'](callOf({}, {}, { ...usual, ...given }))
}

/** Lists of models as the servers publish them, and what they say. */
const local: readonly (readonly [provider: string, list: object, id: string, context: number])[] = [
  [
    'ollama',
    { object: 'list', data: [{ id: 'llama3.2:latest', object: 'model', created: 1, owned_by: 'library' }] },
    'llama3.2:latest',
    0,
  ],
  [
    'lmstudio',
    { object: 'list', data: [{ id: 'qwen3-8b', object: 'model', owned_by: 'organization_owner' }] },
    'qwen3-8b',
    0,
  ],
  [
    'vllm',
    {
      object: 'list',
      data: [
        {
          id: 'Qwen/Qwen3-8B',
          object: 'model',
          root: 'Qwen/Qwen3-8B',
          parent: null,
          max_model_len: 40_960,
          permission: [],
        },
      ],
    },
    'Qwen/Qwen3-8B',
    40_960,
  ],
  [
    'llamacpp',
    {
      models: [{ name: 'gemma-3.gguf', model: 'gemma-3.gguf' }],
      ...{
        object: 'list',
        data: [{ id: 'gemma-3.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } }],
      },
    },
    'gemma-3.gguf',
    131_072,
  ],
]

describe.each(local)('a server of %s on machines of its project', (provider, list, id, context_window) => {
  it('needs no key, and serves the models that it lists, also by its name', async () => {
    server.does(json(list))
    const { id: connection_id } = await connect({ provider, base_url: `${server.url}/v1` })
    const { added, id: sync_id } = await world.useCases['model_syncs.create'](callOf({ connection_id }, {}, undefined))
    expect(added).toMatchObject([{ id, context_window }])
    await world.useCases['model_syncs.apply'](callOf({ connection_id, sync_id }, {}, undefined))
    expect([await world.routed(id), await world.routed(`${provider}/${id}`)]).toEqual(
      Array(2).fill([`${provider} ${id}`]),
    )
    const { path, headers } = server.received.at(-1) ?? {}
    expect([path, headers?.authorization]).toEqual(['/v1/models', undefined])
  })
})

describe('a provider that sells models of others', () => {
  const tokens = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 100, reasoningTokens: 0 }
  it.each([
    ['moonshot', 'kimi-k2.6', '0.001034'],
    ['zai', 'glm-4.6', '0.000624'],
    ['qwen', 'deepseek-v4-flash', '0.000176'],
    ['sambanova', 'gpt-oss-120b', '0.000279'],
    ['hyperbolic', 'Qwen/QwQ-32B', '0.00022'],
    ['cloudflare', '@cf/moonshotai/kimi-k2.6', '0.001034'],
    ['cohere', 'command-r-08-2024', '0.00021'],
    // neither publishes a price of a token
    ['nvidia', 'meta/llama-3.3-70b-instruct', null],
    ['github', 'openai/gpt-4o', null],
  ])('is reached by its name alone, and its prices are exact: %s', async (provider, model, cost) => {
    const settings = provider === 'cloudflare' ? { settings: { account_id: 'acme' } } : {}
    expect(await world.routed(`${provider}/${model}`)).toBe('provider_not_configured')
    await connect({ provider, api_key: 'sk-1', ...settings })
    expect(await world.routed(`${provider}/${model}`)).toEqual([`${provider} ${model}`])
    expect(costOfUnits(priceAt(provider, model), { tokens })).toBe(cost)
  })

  it('is refused without the account that its address names, and if it is not served', async () => {
    const refused = (given: Parameters<typeof connect>[0]) =>
      connect({ api_key: 'sk-1', ...given }).catch((error: unknown) => Object(error).details.param)
    expect([
      await refused({ provider: 'cloudflare' }),
      await refused({ provider: 'sagemaker' }),
      await refused({ provider: 'azure', base_url: `${server.url}/v1` }),
    ]).toEqual(['settings.account_id', 'provider', 'provider'])
  })

  it('has an entry of its own, with every address encrypted but those of local servers', () => {
    const plain = providers.filter(({ baseUrl }) => baseUrl.startsWith('http:')).map(({ id }) => id)
    expect(plain).toEqual(['ollama', 'vllm', 'lmstudio', 'llamacpp'])
  })
})
