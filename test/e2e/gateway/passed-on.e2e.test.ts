import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

describe('operations that are passed through to one provider', () => {
  let upstream: Upstream
  let world: World
  let client: OpenAI
  beforeAll(async () => {
    upstream = await openUpstream()
    const keys = { OPENAI_API_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-2' }
    const env = { ...keys, OPENAI_BASE_URL: upstream.url, SIMULATED_PROVIDER: 'on' }
    world = await World.start({ env })
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const answers = (document: object): void =>
    upstream.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    })
  const sent = () => upstream.received.map(({ path, headers, body }) => [path, headers.authorization, body])

  it('pass moderations through unchanged, by default to OpenAI', async () => {
    const document = { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false, categories: {} }] }
    answers(document)
    expect(await client.moderations.create({ input: ['a', 'b'] })).toMatchObject(document)
    expect(sent()).toEqual([['/moderations', 'Bearer key-1', { input: ['a', 'b'], model: 'omni-moderation-latest' }]])
  })

  it('pass legacy completions through, and refuse streaming', async () => {
    const document = { id: 'cmpl-1', object: 'text_completion', choices: [{ text: ' there', index: 0 }], usage: {} }
    answers({ ...document, usage: { prompt_tokens: 1, completion_tokens: 1 } })
    const body = { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'Hello', suffix: '!' }
    expect(await client.completions.create(body)).toMatchObject({ choices: document.choices })
    expect(sent()).toEqual([['/completions', 'Bearer key-1', { ...body, model: 'gpt-3.5-turbo-instruct' }]])
    const streamed = client.completions.create({ ...body, stream: true })
    await expect(streamed).rejects.toMatchObject({ status: 400, param: 'stream' })
  })

  it('replace personal data in requests, and restore it in answers', async () => {
    upstream.script((response, { body }) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ text: body.prompt }] }))
    })
    const answer = await client.completions.create({
      model: 'openai/gpt-3.5-turbo-instruct',
      prompt: 'to ada@example.com',
    })
    expect(upstream.received[0]?.body.prompt).toBe('to [EMAIL_1]')
    expect(answer.choices[0]?.text).toBe('to ada@example.com')
  })

  it.each(['/v1/rerank', '/v2/rerank'])('pass rerank through at %s', async (path) => {
    answers({ results: [{ index: 1, relevance_score: 0.9 }] })
    const body = { model: 'openai/rerank-1', query: 'q', documents: ['a', 'b'], top_n: 1 }
    const answer = await world.api.post(path, body)
    expect([answer.status, answer.body]).toEqual([200, { results: [{ index: 1, relevance_score: 0.9 }] }])
    expect(sent()).toEqual([['/rerank', 'Bearer key-1', { ...body, model: 'rerank-1' }]])
  })

  it("generate images by OpenAI's API, priced by token or by image", async () => {
    const document = { created: 1, data: [{ b64_json: 'aGk=' }, { b64_json: 'aG8=' }] }
    answers({ ...document, usage: { input_tokens: 10, output_tokens: 1000, total_tokens: 1010 } })
    const body = { model: 'gpt-image-1', prompt: 'A tree', n: 2, size: '1024x1024', quality: 'low' } as const
    const made = await client.images.generate(body).withResponse()
    expect(made.data).toMatchObject(document)
    expect(made.response.headers.get('x-cost-usd')).toBe('0.04005')
    expect(sent()).toEqual([['/images/generations', 'Bearer key-1', body]])
    const simulated = client.images.generate({ model: 'simulated-1', prompt: 'A tree for ada@example.com', n: 2 })
    const { data, response } = await simulated.withResponse()
    const [first, second] = (data.data ?? []).map(({ b64_json }) => Buffer.from(b64_json ?? '', 'base64'))
    expect(first?.subarray(1, 4).toString()).toBe('PNG')
    expect(first?.equals(second ?? first)).toBe(false)
    expect(data.data?.[0]?.revised_prompt).toBe('A tree for ada@example.com')
    expect(response.headers.get('x-cost-usd')).toBe('0.002')
    const streamed = client.images.generate({ ...body, stream: true })
    await expect(streamed).rejects.toMatchObject({ status: 400, param: 'stream' })
    const chat = client.images.generate({ model: 'claude-haiku-4-5', prompt: 'A tree' })
    await expect(chat).rejects.toMatchObject({ status: 404, param: 'model' })
  })

  it('refuse a provider without them, and name an invalid field', async () => {
    const unknown = client.moderations.create({ input: 'a', model: 'anthropic/claude-3-5-haiku-latest' })
    await expect(unknown).rejects.toMatchObject({ status: 404 })
    const empty = await world.api.post('/v1/rerank', { model: 'openai/rerank-1', query: 'q', documents: [] })
    expect([empty.status, empty.body.error.param]).toEqual([400, 'documents'])
  })
})
