import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, stalled, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

/*
 * The chat APIs other than Chat Completions, through a running server and the official SDKs. The simulated model answers,
 * or an upstream on this machine where the request to the provider matters.
 */

const model = 'simulated-1'
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

let world: World
let upstream: Upstream
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  upstream = await openUpstream()
  const env = { SIMULATED_PROVIDER: 'on', OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${upstream.url}/v1` }
  world = await World.start({ env })
  openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  anthropic = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
})
afterAll(async () => {
  await world.stop()
  await upstream.close()
})

describe('the OpenAI SDK', () => {
  it('creates responses, continues them, reads and deletes them', async () => {
    const first = await openai.responses.create({ model, input: 'My name is Ada.' })
    expect(first.output_text).toContain('My name is Ada.')
    const second = await openai.responses.create({ model, input: 'hello again', previous_response_id: first.id })
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0)
    expect(await openai.responses.retrieve(second.id)).toEqual(second)
    await openai.responses.delete(first.id)
    await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('streams responses with tool calls, and sends tool outputs back', async () => {
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters, strict: false }]
    const input = 'Use get_weather for Oslo.'
    const called = await openai.responses.stream({ model, input, tools }).finalResponse()
    const call = called.output.find((item) => item.type === 'function_call')
    expect(call).toMatchObject({ name: 'get_weather', status: 'completed' })
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sunny' }
    const deltas: string[] = []
    const stream = openai.responses.stream({ model, input: [output], tools, previous_response_id: called.id })
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    const answered = await stream.finalResponse()
    expect(answered.output_text).toContain('sunny')
    expect(deltas.join('')).toBe(answered.output_text)
  })

  it('maps errors to its classes', async () => {
    const request = (input: string, more: object = {}) => openai.responses.create({ model, input, ...more })
    await expect(request('x', { temperature: 9 })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(request('x', { background: true, store: false })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(request('fail please')).rejects.toBeInstanceOf(OpenAI.InternalServerError)
    await expect(openai.responses.stream({ model, input: 'cut please' }).finalResponse()).rejects.toThrow()
    const wrong = new OpenAI({ apiKey: 'csk_wrong', baseURL: `${world.url}/v1`, maxRetries: 0 })
    await expect(wrong.responses.create({ model, input: 'x' })).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  })

  it('searches the web with the Responses API of the server at OPENAI_BASE_URL', async () => {
    const annotations = [{ type: 'url_citation', start_index: 0, end_index: 4, url: 'https://a.example/', title: 'A' }]
    const message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Cats.', annotations }],
    }
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
    const document = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'gpt-5',
      output: [message],
      usage,
    }
    upstream.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    })
    const tools = [{ type: 'web_search_preview' as const }]
    const response = await openai.responses.create({ model: 'gpt-5', input: 'cats?', tools })
    expect(response.output).toMatchObject([{ content: [{ text: 'Cats.', annotations }] }])
    expect(upstream.received[0]).toMatchObject({ path: '/v1/responses', body: { store: false, tools } })
  })

  it('cancels the model call when it is aborted', async () => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gpt-5',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }],
    }
    upstream.script(stalled(`data: ${JSON.stringify(chunk)}\n\n`))
    const stream = await openai.responses.create({ model: 'gpt-5', input: 'hi', stream: true })
    for await (const event of stream) if (event.type === 'response.output_text.delta') break
    await upstream.received[0]?.closed
    upstream.script(stalled(''))
    const aborter = new AbortController()
    const waiting = openai.responses.create({ model: 'gpt-5', input: 'hi' }, { signal: aborter.signal })
    await expect.poll(() => upstream.received.length).toBe(1)
    aborter.abort()
    await expect(waiting).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    await upstream.received[0]?.closed
  })
})

describe('the Anthropic SDK', () => {
  const request = (content: string) => ({ model, max_tokens: 200, messages: [{ role: 'user' as const, content }] })

  it('creates messages, with and without streaming', async () => {
    const message = await anthropic.messages.create({ ...request('hello there'), system: 'Be short.' })
    expect(message).toMatchObject({ role: 'assistant', stop_reason: 'end_turn', content: [{ type: 'text' }] })
    const texts: string[] = []
    const stream = anthropic.messages.stream(request('hello there'))
    stream.on('text', (text) => texts.push(text))
    const streamed = await stream.finalMessage()
    expect(streamed.content).toMatchObject([{ type: 'text', text: texts.join('') }])
    expect(streamed.usage.output_tokens).toBeGreaterThan(0)
  })

  it('calls tools and sends their results back', async () => {
    const tools = [{ name: 'get_weather', input_schema: { ...parameters, type: 'object' as const } }]
    const first = request('Use get_weather for Oslo.')
    const called = await anthropic.messages.stream({ ...first, tools }).finalMessage()
    expect(called.stop_reason).toBe('tool_use')
    const use = called.content.find((block) => block.type === 'tool_use')
    const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: 'sunny' }
    const answered = await anthropic.messages.create({
      ...first,
      tools,
      messages: [
        ...first.messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: [result] },
      ],
    })
    expect(JSON.stringify(answered.content)).toContain('sunny')
  })

  it('maps errors to its classes', async () => {
    await expect(anthropic.messages.create({ ...request('x'), max_tokens: 0 })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    )
    await expect(anthropic.messages.create(request('fail please'))).rejects.toBeInstanceOf(
      Anthropic.InternalServerError,
    )
    await expect(anthropic.messages.stream(request('cut please')).finalMessage()).rejects.toBeInstanceOf(
      Anthropic.APIError,
    )
    const wrong = new Anthropic({ apiKey: 'csk_wrong', baseURL: world.url, maxRetries: 0 })
    await expect(wrong.messages.create(request('x'))).rejects.toBeInstanceOf(Anthropic.AuthenticationError)
  })

  it('may send its key as x-api-key', async () => {
    const headers = { 'x-api-key': world.secretKey, authorization: null }
    expect(await anthropic.messages.create(request('hello'), { headers })).toMatchObject({ type: 'message' })
  })
})

describe('/api/ai/chat', () => {
  it('streams text frames, then the finish reason, then [DONE]', async () => {
    const body = { model, messages: [{ role: 'user', content: 'hello there' }], stream: true }
    const response = await world.api.fetch('/api/ai/chat', body)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: '))
    const texts = frames.slice(0, -2).map((frame) => JSON.parse(frame.slice(6)).delta)
    const whole = await world.api.post('/api/ai/chat', { ...body, stream: false })
    expect(texts.join('')).toBe(whole.body.content)
    expect(JSON.parse(frames.at(-2)?.slice(6) ?? '')).toMatchObject({ finish_reason: 'stop', provider: 'simulated' })
    expect(frames.at(-1)).toBe('data: [DONE]')
  })

  it('reports a broken stream in an error frame', async () => {
    const body = { model, messages: [{ role: 'user', content: 'cut please' }], stream: true }
    const text = await (await world.api.fetch('/api/ai/chat', body)).text()
    expect(text).toContain('data: {"error":"provider_stream_broken"')
    expect(text).not.toContain('[DONE]')
  })

  it('calls a vision model when the request has an image and the requested model lacks vision', async () => {
    const answer = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'a cat' }, finish_reason: 'stop' }],
    }
    upstream.script(whole(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`))
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const body = { model: 'gpt-3.5-turbo', messages: [{ role: 'user', content: [image] }], stream: true }
    const text = await (await world.api.fetch('/api/ai/chat', body)).text()
    expect(text).toContain('data: {"delta":"a cat"}')
    expect(upstream.received[0]?.body).toMatchObject({ model: 'gpt-4o-mini', messages: body.messages })
  })

  it("sends a server of the operator's no URL that it would fetch from the operator's network", async () => {
    upstream.script(whole('data: [DONE]\n\n'))
    const url = 'https://169.254.169.254/latest/meta-data'
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    const blocks = [{ type: 'image', source: { type: 'url', url } }]
    const input = [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }]
    const requests = {
      '/v1/chat/completions': { messages },
      '/api/ai/chat': { messages, stream: true },
      '/v1/messages': { max_tokens: 10, messages: [{ role: 'user', content: blocks }] },
      '/v1/responses': { input },
      '/v1/vision': { image_url: url },
    }
    for (const [path, body] of Object.entries(requests)) {
      const answer = await world.api.fetch(path, { model: 'gpt-4o', ...body })
      expect([path, answer.status, (await answer.text()).includes('not allowed')]).toEqual([path, 400, true])
    }
    expect(upstream.received).toEqual([])
  })
})
