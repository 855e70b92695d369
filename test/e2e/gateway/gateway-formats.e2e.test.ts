import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { BadRequestError, InternalServerError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cut, openUpstream, refusal, trickled, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { anthropic, google } from '#test/gateway/call/wire-samples.ts'
import { World } from '../world.ts'

describe('providers of other formats behind the official OpenAI client', () => {
  let upstream: Upstream
  let world: World
  let client: OpenAI

  beforeAll(async () => {
    upstream = await openUpstream()
    const provider = (env: string) => ({ [`${env}_API_KEY`]: `key-of-${env}`, [`${env}_BASE_URL`]: upstream.url })
    world = await World.start({ env: { ...provider('ANTHROPIC'), ...provider('GOOGLE'), ...provider('OPENAI') } })
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const messages = [{ role: 'user' as const, content: 'Weather in Köln?' }]

  it("count the tokens of an Anthropic message by Anthropic's own endpoint", async () => {
    upstream.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":42}')
    })
    const sdk = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
    const model = `anthropic/${anthropic.model}`
    const counting = sdk.messages.countTokens({ model, messages, system: 'Be short.' })
    const { data, response } = await counting.withResponse()
    expect([data, response.headers.get('x-token-count')]).toEqual([{ input_tokens: 42 }, 'provider'])
    expect(upstream.received).toMatchObject([
      {
        path: '/v1/messages/count_tokens',
        headers: { 'x-api-key': 'key-of-ANTHROPIC', 'anthropic-version': '2023-06-01' },
        body: { model: anthropic.model, messages, system: 'Be short.' },
      },
    ])
  })

  describe.each([
    [anthropic, '/v1/messages', 'x-api-key', 'key-of-ANTHROPIC'],
    [google, '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', 'x-goog-api-key', 'key-of-GOOGLE'],
  ] as const)('$0.id', (sample, path, header, key) => {
    const { model } = sample

    it('streams text with its usage', async () => {
      upstream.script(trickled(sample.text, 9, 5))
      const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
      const completion = await stream.finalChatCompletion()
      expect(completion.choices[0]).toMatchObject({ message: { content: 'Hello wörld 🌍' }, finish_reason: 'stop' })
      expect(completion.usage).toMatchObject({ total_tokens: 27, prompt_tokens_details: { cached_tokens: 5 } })
      expect(upstream.received[0]).toMatchObject({ path, headers: { [header]: key } })
    })

    it("calls tools, and accepts the client's conversation with their results", async () => {
      upstream.script(whole(sample.calls))
      const tool = { type: 'function' as const, function: { name: 'get_weather', parameters: { type: 'object' } } }
      const stream = client.chat.completions.stream({ model, messages, tools: [tool] })
      const { message } = (await stream.finalChatCompletion()).choices[0] ?? expect.fail('no choice')
      const calls = message.tool_calls ?? []
      expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
        '{"city":"Köln"}',
        '{}',
      ])
      upstream.script(whole(sample.text))
      const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'grey' }))
      await client.chat.completions.stream({ model, messages: [...messages, message, ...results] }).done()
      const sent = JSON.stringify(upstream.received[0]?.body)
      expect(sent).toContain(sample.id === 'google' ? '"thoughtSignature":"c2ln"' : '"tool_use_id":"call_a"')
      expect(sent).toContain('get_weather')
    })

    it('raises an error when the stream breaks off', async () => {
      upstream.script(cut(sample.beginning))
      const stream = await client.chat.completions.create({ model, messages, stream: true })
      const read = async () => {
        for await (const _ of stream);
      }
      await expect(read()).rejects.toThrow()
    })

    it('raises the error classes of the OpenAI client for refusals', async () => {
      upstream.script(refusal(400, sample.tooLong))
      await expect(client.chat.completions.create({ model, messages })).rejects.toThrow(BadRequestError)
      upstream.script(refusal(529, { type: 'overloaded_error' }, { 'retry-after': '60' }))
      await expect(client.chat.completions.create({ model, messages })).rejects.toThrow(InternalServerError)
    })
  })

  it('create embeddings, which the client reads as numbers in any encoding', async () => {
    upstream.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ embeddings: [{ values: [0.5, 0.25] }, { values: [1, 0] }] }))
    })
    const google = await client.embeddings.create({ model: 'gemini-embedding-001', input: ['a', 'b'] })
    expect(google.data.map(({ embedding }) => embedding)).toEqual([
      [0.5, 0.25],
      [1, 0],
    ])
    expect(google.usage.prompt_tokens).toBe(2)
    upstream.script((response, { body }) => {
      const data = [{ object: 'embedding', index: 0, embedding: body.encoding_format === 'base64' ? 'AACAPw==' : [1] }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } }))
    })
    const openAi = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })
    expect(openAi.data[0]?.embedding).toEqual([1])
    expect(upstream.received[0]?.headers.authorization).toBe('Bearer key-of-OPENAI')
  })
})
