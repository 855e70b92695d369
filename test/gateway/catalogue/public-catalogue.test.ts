import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { type CatalogueFilter, PublicCatalogue } from '#gateway/catalogue/public-catalogue.ts'
import { priceTable } from '#gateway/prices/price-table.ts'
import { prices } from '#gateway/prices/prices.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import { modelTypes } from '#specs/resources/gateway/catalogue.ts'

const capabilities = ['vision', 'tools', 'reasoning']
const chat = { mode: 'chat', input: '0.00000015', output: '0.0000006', context: 128_000, capabilities }
const models = {
  openai: {
    'gpt-x': chat,
    'gpt-x-search': { ...chat, capabilities: ['search'] },
    'gpt-gone': { ...chat, retires: '2026-06-01' },
    'gpt-draw': { mode: 'image', input: '0.000005', image: '0.042', context: 0, capabilities: ['image'] },
    'gpt-draw-by-tokens': { mode: 'image', input: '0.000005', output: '0.00003', context: 0, capabilities: ['image'] },
    'embed-1': { mode: 'embedding', input: '0.0000001', context: 8192, capabilities: [] },
    'tts-1': { mode: 'speech', character: '0.000015', context: 0, capabilities: [] },
    'no-output': { mode: 'chat', input: '0.000001', context: 0, capabilities: [] },
  },
  google: { 'gemini-x': { ...chat, capabilities: ['vision', 'videoInput'] } },
  groq: { 'qwen/coder-1': { ...chat, capabilities: ['tools', 'code'] } },
  simulated: { 'simulated-1': chat },
}
const table = priceTable({
  ...{ source: 'x', version: '1', date: '2026-01-01', currency: 'USD' },
  rows: Object.entries(models).flatMap(([provider, each]) =>
    Object.entries(each).map(([id, row]) => ({ provider, id, ...row })),
  ),
})

const open = (now = Date.parse('2026-05-01'), origin: string | null = null) =>
  new PublicCatalogue({ table, origin, now: () => now })

const found = (filter: CatalogueFilter, catalogue = open()) => catalogue.models(filter).data.map(({ id }) => id)

describe('the public catalogue', () => {
  it('has a complete row for a chat model', () => {
    const [row] = open(undefined, 'https://agents.example').models({ provider: 'openai' }).data
    expect(row).toEqual({
      id: 'gpt-x',
      name: 'gpt-x',
      provider: 'openai',
      provider_name: 'OpenAI',
      provider_logo_url: 'https://agents.example/api/providers/openai/logo',
      type: 'chat',
      types: ['chat', 'reasoning', 'vision'],
      context_window: 128_000,
      context_display: '128K',
      description: 'Chat model of OpenAI with 128,000 tokens of context. Can do: reasoning, seeing images, tool calls.',
      capabilities: {
        ...{ reasoning: true, vision: true, code: false, search: false, image: false, tools: true },
        ...{ structuredOutput: false, fileInput: false, videoInput: false, audioInput: false, caching: false },
      },
      pricing: {
        ...{ input_per_million: 0.15, output_per_million: 0.6, currency: 'USD' },
        ...{ input_display: '$0.15 per 1M', output_display: '$0.60 per 1M' },
        ...{ per_image: false, per_image_usd: null },
      },
    })
  })

  it('prices image models by the image', () => {
    const [row] = open().models({ type: 'image' }).data
    expect(row).toMatchObject({
      type: 'image',
      pricing: { per_image: true, per_image_usd: 0.042, output_display: '$0.042 per img', input_per_million: 5 },
    })
  })

  it('excludes speech, embeddings, the simulated model, and models without an output price', () => {
    expect(found({})).toEqual(['gpt-x', 'gpt-x-search', 'gpt-gone', 'gpt-draw', 'gemini-x', 'qwen/coder-1'])
  })

  it('drops a model on its retirement date without a restart', () => {
    let now = Date.parse('2026-05-31T23:59:59Z')
    const catalogue = new PublicCatalogue({ table, origin: null, now: () => now })
    expect(found({ search: 'gone' }, catalogue)).toEqual(['gpt-gone'])
    now += 1000
    expect(found({ search: 'gone' }, catalogue)).toEqual([])
    expect(catalogue.providers().data.find(({ id }) => id === 'openai')?.model_count).toBe(3)
  })

  it.each<[CatalogueFilter, string[]]>([
    [{ provider: 'GROQ' }, ['qwen/coder-1']],
    [{ provider: 'Gemini' }, ['gemini-x']],
    [{ provider: 'nobody' }, []],
    [{ provider: '', search: '' }, ['gpt-x', 'gpt-x-search', 'gpt-gone', 'gpt-draw', 'gemini-x', 'qwen/coder-1']],
    [{ type: 'search' }, ['gpt-x-search']],
    [{ type: 'code' }, ['qwen/coder-1']],
    [{ type: 'vision' }, ['gpt-x', 'gpt-gone', 'gemini-x']],
    [{ search: 'GEMINI' }, ['gemini-x']],
    [{ search: 'image model' }, ['gpt-draw']],
    [{ search: 'groq' }, ['qwen/coder-1']],
    [{ search: 'gpt', type: 'chat', provider: 'openai', capability: ['tools', 'vision'] }, ['gpt-x', 'gpt-gone']],
    [{ capability: ['vision'] }, ['gpt-x', 'gpt-gone', 'gemini-x']],
    [{ capability: ['vision', 'videoInput'] }, ['gemini-x']],
  ])('is filtered by %j', (filter, ids) => {
    expect(found(filter)).toEqual(ids)
    expect(open().models(filter).total).toBe(ids.length)
  })

  it('returns the same object for equivalent filters', () => {
    const catalogue = open()
    const first = catalogue.models({ provider: 'OpenAI', capability: ['vision', 'tools'] })
    expect(catalogue.models({ provider: 'openai', capability: ['tools', 'vision', 'tools'] })).toBe(first)
    expect(catalogue.models({ provider: 'openai', search: 'x' })).not.toBe(first)
  })

  it('limits the number of cached answers', () => {
    const catalogue = open()
    const first = catalogue.models({ search: 'gpt' })
    for (let n = 0; n < 100; n += 1) catalogue.models({ search: `gpt ${n}` })
    expect(catalogue.models({ search: 'gpt' })).not.toBe(first)
    expect(catalogue.models({ search: 'gpt' })).toEqual(first)
  })

  it('counts the models of every provider, including providers without chat models', () => {
    const { data, total } = open().providers()
    expect(total).toBe(data.length)
    expect(data.find(({ id }) => id === 'openai')).toEqual({
      id: 'openai',
      name: 'OpenAI',
      logo_url: '/api/providers/openai/logo',
      website: 'https://openai.com',
      docs_url: 'https://platform.openai.com/docs',
      model_count: 4,
    })
    expect(data.find(({ id }) => id === 'elevenlabs')?.model_count).toBe(0)
    expect(data.some(({ id }) => id === 'simulated')).toBe(false)
  })
})

describe('the catalogue of the snapshot', () => {
  const catalogue = new PublicCatalogue({ table: prices, origin: null, now: () => Date.parse(prices.date) })

  it('conforms to the declared schema', () => {
    const { answer } = operations['catalogue.models']
    if (answer.kind !== 'json') throw new Error('a document is declared')
    expect(answerChecker(answer.schema.json)(catalogue.models({}))).toBeNull()
  })

  it.each(modelTypes)('has models of type %s', (type) => {
    expect(catalogue.models({ type }).total).toBeGreaterThan(0)
  })

  it('counts each model for one provider', () => {
    const sum = catalogue.providers().data.reduce((all, { model_count }) => all + model_count, 0)
    expect(sum).toBe(catalogue.models({}).total)
  })

  it('prices every image model by the image', () => {
    const { data } = catalogue.models({ type: 'image' })
    expect(data.filter(({ pricing }) => !pricing.per_image || !(Number(pricing.per_image_usd) > 0))).toEqual([])
  })

  it('has no free chat model', () => {
    const free = catalogue
      .models({})
      .data.filter(({ pricing }) => !pricing.per_image && pricing.output_per_million === 0)
    expect(free.map(({ id }) => id)).toEqual([])
  })
})
