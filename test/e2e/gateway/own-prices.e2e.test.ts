import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { goodAnswer } from '#test/gateway/chat/chat-world.ts'
import type { Api } from '../api.ts'
import { World } from '../world.ts'

/** 12 tokens in and 5 out, as `goodAnswer` counts them. */
const charged = { ...goodAnswer, usage: { ...goodAnswer.usage, cost: 0.00042 } }

describe('custom prices', () => {
  let upstream: Upstream
  let world: World
  let dashboard: Api
  let providers: string

  beforeAll(async () => {
    upstream = await openUpstream()
    upstream.script((response, { path, headers }) => {
      if (/\/(speech|tts\/bytes)$/.test(path)) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3')
      else response.end(JSON.stringify(headers.authorization === 'Bearer or-managed' ? charged : goodAnswer))
    })
    world = await World.start({
      tools: [{ host: new URL(upstream.url).host }],
      env: {
        ...{ OPENROUTER_API_KEY: 'or-managed', OPENROUTER_BASE_URL: upstream.url },
        ...{ SPITCH_API_KEY: 'sp-managed', SPITCH_BASE_URL: upstream.url },
        SPITCH_PRICES: 'characters_per_million_usd=30',
        ...{ CARTESIA_API_KEY: 'ca-managed', CARTESIA_BASE_URL: upstream.url },
        CARTESIA_PRICES: 'characters_per_million_usd=40',
      },
    })
    dashboard = await world.dashboard()
    providers = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/providers`
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const messages = [{ role: 'user', content: 'Hi' }]
  const chat = (model: string, more: object = {}) =>
    world.api.post('/v1/chat/completions', { model, messages, max_tokens: 100, ...more })
  const budget = async (budget_total_usd: string | null) => {
    const { id } = (await world.api.post('/v1/limits', { subject: 'project', budget_total_usd })).body
    return { spent: async () => (await world.api.get(`/v1/limits/${id}`)).body.spent_total_usd }
  }
  const lastRow = async () => (await world.api.get('/v1/usage/events?limit=1')).body.data[0]
  const exceeded = { status: 402, body: { error: { code: 'budget_exceeded' } } }

  it('of a custom provider and of one of its models determine usage costs and the check of a budget', async () => {
    const prices = { input_per_million_usd: '2', output_per_million_usd: '10' }
    const given = { name: 'Rack', baseUrl: `${upstream.url}/v1`, format: 'openai', prices }
    const models = [
      { name: 'Large', modelId: 'large' },
      { name: 'Small', modelId: 'small', prices: { input_per_million_usd: '1', output_per_million_usd: '1' } },
    ]
    const { status, body } = await dashboard.post(providers, { ...given, models })
    expect([status, body.provider.prices]).toEqual([201, prices])
    const small = await chat('rack/small')
    expect([small.status, small.headers.get('x-cost-usd'), small.body.usage.cost_usd]).toEqual([
      200,
      '0.000017',
      0.000017,
    ])
    const large = await chat('rack/large')
    expect(large.headers.get('x-cost-usd')).toBe('0.000074')
    expect(await lastRow()).toMatchObject({
      ...{ billing_mode: 'custom', provider_cost_usd: '0.000074', service_charge_usd: '0' },
      price_snapshot: { input: '0.000002', output: '0.00001' },
    })
    const { data } = (await world.api.get(`/v1/models?provider=custom:${body.provider.id}`)).body
    expect(new Set(data.map((row: { readonly pricing_status: string }) => row.pricing_status))).toEqual(
      new Set(['priced']),
    )
    const held = await budget('0.001')
    expect(await chat('rack/large', { max_tokens: 200 })).toMatchObject(exceeded)
    expect(await chat('rack/large', { max_tokens: 20 })).toMatchObject({ status: 200 })
    await expect.poll(held.spent).toBe('0.000074')
    await budget(null)
  })

  it('of a connection override the price list, and are replaced as a whole', async () => {
    const given = { name: 'Ours', provider: 'openai', base_url: `${upstream.url}/v1`, api_key: 'own' }
    const { id } = (await world.api.post('/v1/provider-connections', given)).body
    const cost = async () => (await chat('gpt-4o-mini')).headers.get('x-cost-usd')
    const listed = await cost()
    expect(listed).toBe('0.0000048')
    const change = (prices: object | null) =>
      world.api.post(`/v1/provider-connections/${id}`, { prices }, { method: 'PATCH' })
    expect((await change({ input_per_million_usd: '100', call_usd: '0.5' })).body.prices).toEqual({
      ...{ input_per_million_usd: '100', call_usd: '0.5' },
    })
    expect(await cost()).toBe('0.5012')
    await change(null)
    expect(await cost()).toBe(listed)
    expect((await change({ input_per_million_usd: '-1' })).status).toBe(422)
  })

  it('of the installation let a budget cover a model without a list price', async () => {
    const say = (input: string) => world.api.fetch('/v1/audio/speech', { model: 'spitch-tts', input, language: 'yo' })
    await budget('0.0003')
    const good = await say('Bawo ni')
    expect([good.status, good.headers.get('x-cost-usd')]).toEqual([200, '0.00021'])
    expect((await say('Bawo ni, bawo ni, bawo ni')).status).toBe(402)
    await budget(null)
  })

  it("are not needed when a provider reports its charge: a budget uses the underlying model's list price", async () => {
    const model = 'openrouter/anthropic/claude-haiku-4.5'
    const held = await budget('0.001')
    const before = Number(await held.spent())
    // 5 USD per million tokens
    expect(await chat(model, { max_tokens: 300 })).toMatchObject(exceeded)
    const good = await chat(model, { max_tokens: 50 })
    expect([good.status, good.headers.get('x-cost-usd')]).toEqual([200, '0.00042'])
    await expect.poll(async () => Number(await held.spent()) - before).toBeCloseTo(0.00042, 9)
    expect(await chat('openrouter/nobody/knows-it')).toMatchObject({
      status: 402,
      body: { error: { code: 'price_unknown' } },
    })
    await budget(null)
  })

  it('of the installation let a budget hold Cartesia by name, and nothing that it sells by a unit without a price', async () => {
    const say = (input: string) => world.api.fetch('/v1/audio/speech', { model: 'sonic-3', input })
    const form = new FormData()
    form.set('model', 'ink-whisper')
    form.set('file', new File([new Uint8Array(2000)], 'a.wav', { type: 'audio/wav' }))
    const transcribe = async () => {
      const headers = { authorization: `Bearer ${world.secretKey}` }
      const answer = await fetch(`${world.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
      return { status: answer.status, body: await answer.json() }
    }
    const before = Number(await (await budget('1')).spent())
    const held = await budget((before + 0.0004).toFixed(6))
    const good = await say('Hello you')
    expect([good.status, good.headers.get('x-cost-usd')]).toEqual([200, '0.00036'])
    await expect.poll(async () => Number(await held.spent()) - before).toBeCloseTo(0.00036, 9)
    expect((await say('Hello you, hello you')).status).toBe(402)
    const sent = upstream.received.length
    expect(await transcribe()).toMatchObject({ status: 402, body: { error: 'price_unknown', param: 'model' } })
    expect(upstream.received).toHaveLength(sent)
    await budget(null)
  })
})
