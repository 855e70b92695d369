import OpenAI, {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Answer,
  cut,
  openUpstream,
  refusal,
  stalled,
  trickled,
  type Upstream,
} from '#test/gateway/call/scripted-upstream.ts'
import { delta, framesOf, goodAnswer, goodStream } from '#test/gateway/chat/chat-world.ts'
import { World } from '../world.ts'

const json =
  (document: object): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  }

describe('the official OpenAI client, with only the base URL changed', () => {
  let upstream: Upstream
  let world: World
  let client: OpenAI

  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const model = 'gpt-4o-mini'
  const messages = [{ role: 'user' as const, content: 'Hello' }]

  it('chats', async () => {
    upstream.script(json(goodAnswer))
    const { data, response } = await client.chat.completions.create({ model, messages, seed: 7 }).withResponse()
    expect(data).toMatchObject(goodAnswer)
    expect(response.headers.get('x-provider')).toBe('openai')
    expect(upstream.received[0]).toMatchObject({
      path: '/chat/completions',
      headers: { authorization: 'Bearer sk-managed' },
      body: { model, messages, seed: 7 },
    })
  })

  it('streams', async () => {
    upstream.script(trickled(goodStream, 11, 3))
    const completion = await client.chat.completions.stream({ model, messages }).finalChatCompletion()
    expect(completion.choices[0]).toMatchObject({
      message: { role: 'assistant', content: 'Hello wörld 🌍 "error": {"usage":{}}' },
      finish_reason: 'stop',
    })
  })

  it('gets a 429 after one retry of the gateway, since it retries itself; other clients after two', async () => {
    upstream.script(refusal(429, { message: 'slow down' }, { 'retry-after': '0' }))
    await expect(client.chat.completions.create({ model, messages })).rejects.toThrow(RateLimitError)
    expect(upstream.received).toHaveLength(2)
    upstream.script(refusal(429, { message: 'slow down' }, { 'retry-after': '0' }))
    expect((await world.api.post('/v1/chat/completions', { model, messages })).status).toBe(429)
    expect(upstream.received).toHaveLength(3)
  })

  it('calls tools', async () => {
    const called = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":' },
    }
    const rest = { index: 0, function: { arguments: '"Köln"}' } }
    const stream = [delta({ role: 'assistant', tool_calls: [called] }), delta({ tool_calls: [rest] })]
    upstream.script(trickled(framesOf(...stream, delta({}, 'tool_calls'), '[DONE]'), 7, 3))
    const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: { type: 'object' } } }]
    const completion = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
    ])
    expect(upstream.received[0]?.body).toMatchObject({ tools })
  })

  it('raises its own error class for each refusal', async () => {
    const request = (body: Partial<Parameters<typeof client.chat.completions.create>[0]> = {}, as = client) =>
      as.chat.completions.create({ model, messages, ...body, stream: false })
    upstream.script(refusal(400, { message: 'Bad tool.', code: 'invalid_value', param: 'tools' }))
    await expect(request()).rejects.toThrow(BadRequestError)
    await expect(request()).rejects.toMatchObject({ code: 'bad_request', param: 'tools' })
    await expect(request({ temperature: 3 })).rejects.toThrow(BadRequestError)
    upstream.script(refusal(404, { message: 'No such model.' }))
    await expect(request()).rejects.toThrow(NotFoundError)
    upstream.script(refusal(429, { message: 'Slow down.' }, { 'retry-after': '3600' }))
    const limited = await request().catch((error: unknown) => error)
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ type: 'rate_limit_error', code: 'provider_rate_limited' })
    expect(limited instanceof RateLimitError && limited.headers.get('retry-after')).toBe('3600')
    // the managed key was refused, not the caller's
    upstream.script(refusal(401, { message: 'Incorrect API key provided: sk-managed' }))
    await expect(request()).rejects.toThrow(InternalServerError)
    const stranger = new OpenAI({ apiKey: 'csk_nobody', baseURL: `${world.url}/v1`, maxRetries: 0 })
    await expect(request({}, stranger)).rejects.toThrow(AuthenticationError)
  })

  it('raises an error when a stream breaks', async () => {
    upstream.script(cut(framesOf(delta({ role: 'assistant', content: 'Hel' }))))
    const texts: unknown[] = []
    const read = async () => {
      const stream = await client.chat.completions.create({ model, messages, stream: true })
      for await (const chunk of stream) texts.push(chunk.choices[0]?.delta.content)
    }
    await expect(read()).rejects.toMatchObject({ error: { code: 'provider_stream_broken' } })
    expect(texts).toEqual(['Hel'])
  })

  it("cancels the provider's request when it aborts", async () => {
    upstream.script(stalled(framesOf(delta({ role: 'assistant', content: 'Hel' }))))
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) stream.controller.abort()
    await upstream.received[0]?.closed
    upstream.script(() => {})
    const aborter = new AbortController()
    const waiting = client.chat.completions.create({ model, messages }, { signal: aborter.signal })
    await expect.poll(() => upstream.received.length, { timeout: 20_000 }).toBe(1)
    aborter.abort()
    await expect(waiting).rejects.toThrow(APIUserAbortError)
    await upstream.received[0]?.closed
  })
})
