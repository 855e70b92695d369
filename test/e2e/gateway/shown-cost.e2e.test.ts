import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { framesOf, goodAnswer, goodStream, usageChunk } from '#test/gateway/chat/chat-world.ts'
import { World } from '../world.ts'

// gpt-4o-mini, 12 tokens in and 5 out: 0.15 and 0.6 USD a million
const chatUsd = '0.0000048'
const vectors = {
  ...{ object: 'list', model: 'text-embedding-3-small', data: [{ object: 'embedding', index: 0, embedding: [1, 2] }] },
  usage: { prompt_tokens: 100, total_tokens: 100 },
}
const completed = {
  ...{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'gpt-3.5-turbo-instruct' },
  choices: [{ index: 0, text: 'Yes.', finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const searched = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-5', error: null },
  output: [
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'cats' } },
    {
      type: 'web_search_call',
      id: 'ws_2',
      status: 'completed',
      action: { type: 'open_page', url: 'https://cats.example' },
    },
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Cats purr.', annotations: [], logprobs: [] }],
    },
  ],
  tools: [{ type: 'web_search' }],
  usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
}

describe('the cost of a call', () => {
  let upstream: Upstream
  let world: World
  let client: OpenAI

  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    upstream.script((response, { path, body }) => {
      if (path.endsWith('/responses')) response.end(JSON.stringify(searched))
      else if (path.endsWith('/embeddings')) response.end(JSON.stringify(vectors))
      else if (path.endsWith('/speech')) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3')
      else if (path.endsWith('/completions') && 'prompt' in body) response.end(JSON.stringify(completed))
      else if (body.stream === true) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(goodStream)
      else response.end(JSON.stringify(goodAnswer))
    })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const model = 'gpt-4o-mini'
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const cached = async (change: object) => {
    const changed = await world.api.post('/v1/cache-policy', change, { method: 'PATCH' })
    expect(changed).toMatchObject({ status: 200, body: change })
  }
  const lastCost = async () => (await world.api.get('/v1/usage/events?limit=1')).body.data[0].provider_cost_usd

  it.each([
    ['/v1/chat/completions', { model, messages }, chatUsd],
    ['/v1/responses', { model, input: 'Hi' }, chatUsd],
    ['/v1/messages', { model, messages, max_tokens: 9 }, chatUsd],
    ['/api/ai/chat', { model, messages }, chatUsd],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }, '0.000002'],
  ])('is equal in the usage and header of an unstreamed answer of %s and in its usage row', async (path, body, usd) => {
    const answer = await world.api.post(path, body)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-cost-usd')).toBe(usd)
    expect(answer.body.usage.cost_usd).toBe(Number(usd))
    expect(await lastCost()).toBe(usd)
  })

  it('is in a header of unstreamed speech', async () => {
    const answer = await world.api.fetch('/v1/audio/speech', { model: 'tts-1', input: 'Hello', voice: 'alloy' })
    await answer.arrayBuffer()
    expect(answer.headers.get('x-cost-usd')).toBe('0.000075')
  })

  it.each([
    ['/v1/chat/completions', { model, messages, stream: true, stream_options: { include_usage: true } }],
    ['/v1/responses', { model, input: 'Hi', stream: true }],
    ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
    ['/api/ai/chat', { model, messages, stream: true }],
  ])('is in the usage at the end of a stream of %s', async (path, body) => {
    const text = await (await world.api.fetch(path, body)).text()
    expect(text.match(/"cost_usd":([\d.e-]+)/)?.[1]).toBe(String(Number(chatUsd)))
  })

  it('is not in a stream without include_usage, which is otherwise as the provider wrote it', async () => {
    const answer = await world.api.fetch('/v1/chat/completions', { model, messages, stream: true })
    expect(await answer.text()).toBe(goodStream.replace(framesOf(usageChunk), ''))
  })

  it('is readable with the official client', async () => {
    const completion = await client.chat.completions.create({ model, messages })
    expect(completion.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 5, cost_usd: Number(chatUsd) })
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 12 })
  })

  it('includes the fee of each web search of the provider, and none for opened pages', async () => {
    const tools = [{ type: 'web_search' as const }]
    const answer = await world.api.post('/v1/responses', { model: 'gpt-5', input: 'Cats?', tools })
    expect(answer.status).toBe(200)
    // 1.25 and 10 USD per million tokens, and one search at a cent
    expect(answer.headers.get('x-cost-usd')).toBe('0.01225')
    expect(await lastCost()).toBe('0.01225')
  })

  it('is 0 for a stored answer in every API, with what it saved in the usage and the log, and each tenant has its own', async () => {
    expect((await world.api.get('/v1/cache-policy')).body).toMatchObject({ mode: 'off', updated_at: null })
    await cached({ mode: 'exact', ttl_s: 600 })
    const said = [{ role: 'user', content: 'Is it stored?' }]
    const requests: readonly [path: string, body: object][] = [
      ['/v1/chat/completions', { model, messages: said }],
      ['/v1/responses', { model, input: 'Stored?' }],
      ['/v1/messages', { model, messages: said, max_tokens: 9 }],
      ['/api/ai/chat', { model, messages: [{ role: 'user', content: 'Stored here?' }] }],
      ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Stored?' }],
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Stored?' }],
    ]
    for (const [path, body] of requests) {
      const calls = upstream.received.length
      const [first, again] = [await world.api.post(path, body), await world.api.post(path, body)]
      expect([first.status, first.headers.get('x-cache')], path).toEqual([200, 'miss'])
      expect([again.status, again.headers.get('x-cache'), again.headers.get('x-cost-usd')], path).toEqual([
        200,
        'hit',
        '0',
      ])
      expect(Number(again.headers.get('age')), path).toBeGreaterThanOrEqual(0)
      expect(upstream.received.length, path).toBe(calls + 1)
      expect(await lastCost(), path).toBe('0')
    }
    const chat = { model, messages: said }
    const stream = await world.api.post('/v1/chat/completions', { ...chat, stream: true })
    expect([stream.headers.get('x-cache'), stream.status]).toEqual(['hit', 200])
    const logged = await world.api.get(`/v1/request-log/${stream.headers.get('x-request-id')}`)
    expect(logged.body).toMatchObject({ cache: 'hit', saved_usd: chatUsd, cost_usd: '0', attempts: 0, input_tokens: 0 })
    const usage = (await world.api.get('/v1/usage')).body.totals
    expect(usage.cache_hits).toBe(requests.length + 1)
    expect(Number(usage.saved_usd)).toBeGreaterThan(Number(chatUsd))
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'cached', name: 'Cached' })).body.id
    const headers = { 'x-tenant-id': tenant }
    const ofTenant = async (more = {}) =>
      (await world.api.post('/v1/chat/completions', chat, { headers: { ...headers, ...more } })).headers.get('x-cache')
    expect([await ofTenant(), await ofTenant(), await ofTenant({ 'cache-control': 'no-store' })]).toEqual([
      ...['miss', 'hit', 'bypass'],
    ])
    await world.api.post('/v1/request-log-settings', { mode: 'metadata', retention_days: 30 }, { method: 'PUT' })
    expect(await ofTenant()).toBeNull()
    await world.api.post('/v1/request-log-settings', { mode: 'bodies', retention_days: 30 }, { method: 'PUT' })
    expect(await ofTenant()).toBe('miss')
    await cached({ mode: 'off' })
    expect(await ofTenant()).toBeNull()
    await cached({ mode: 'exact' })
    expect(await ofTenant()).toBe('miss')
    await cached({ mode: 'off' })
  })
})
