import { describe, expect, it } from 'vitest'
import { marked } from '#facts/injected-text.ts'
import { aiChatUseCases } from '#gateway/apis/ai-chat/ai-chat-use-cases.ts'
import { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { aiChat } from '#specs/resources/gateway/ai-chat.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { principals, type Sent } from '#test/transport/api/serving.ts'
import { declaredAnswer, formServer, framesIn } from './form-server.ts'
import { calling, type Script, ScriptedChat, saying } from './scripted-chat.ts'

const serving = (...scripts: readonly Script[]) => {
  const chat = new ScriptedChat(...scripts)
  const memory = new ScriptedMemory()
  const parts = { chat, memory: new ChatMemory({ service: () => memory, now: () => 0 }) }
  const send = formServer(aiChat, { ...aiChatUseCases(parts) })
  const request = (body: object = {}, sent: Partial<Sent> = {}) =>
    send('/api/ai/chat', { model: 'model-1', messages: [{ role: 'user', content: 'hi' }], ...body }, sent)
  return { chat, memory, request }
}

const checked = declaredAnswer(aiChat['ai_chat.create'])

describe('/api/ai/chat', () => {
  it('returns every field in camel case and snake case', async () => {
    const { request } = serving({ deltas: saying('Hello', ' there.') })
    const { status, json, headers } = await request()
    expect(status).toBe(200)
    expect(checked(json)).toBeNull()
    expect(json).toEqual({
      id: 'chatcmpl-1',
      content: 'Hello there.',
      model: 'model-1-2026',
      provider: 'simulated',
      finishReason: 'stop',
      finish_reason: 'stop',
      usage: {
        promptTokens: 7,
        completionTokens: 5,
        totalTokens: 12,
        prompt_tokens: 7,
        completion_tokens: 5,
        total_tokens: 12,
        costUsd: 0.000123,
        cost_usd: 0.000123,
      },
      toolCalls: null,
      tool_calls: null,
      costUsd: 0.000123,
      cost_usd: 0.000123,
    })
    expect(headers['x-provider']).toBe('simulated')
  })

  it.each([true, false])('returns what the text cites (streamed: %s)', async (stream) => {
    const place = { start_index: 0, end_index: 5 }
    const cited = {
      annotations: [{ type: 'url_citation', url_citation: { ...place, url: 'https://a.example/', title: 'A' } }],
      citations: [{ type: 'char_location', cited_text: 'so', ...place }],
    }
    const { json, text } = await serving({ deltas: [...saying('Hello'), cited] }).request({ stream })
    if (!stream) expect(checked(json)).toBeNull()
    expect(stream ? framesIn(text).at(-2) : json).toMatchObject(cited)
  })

  it('returns a cost of null when the price is unknown', async () => {
    const { json } = await serving({ deltas: saying('x'), costUsd: null }).request()
    expect(json).toMatchObject({ costUsd: null, cost_usd: null })
  })

  it('returns the tool calls of the model', async () => {
    const { request } = serving({
      deltas: calling(0, 'call_1', 'look_up', '{"q":', '"x"}'),
      finishReason: 'tool_calls',
    })
    const { json } = await request({ tools: [{ name: 'look_up' }] })
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"x"}' } }
    expect(json).toMatchObject({ content: '', toolCalls: [call], tool_calls: [call], finishReason: 'tool_calls' })
    expect(checked(json)).toBeNull()
  })

  it.each([
    {
      maxTokens: 9,
      topP: 0.5,
      toolChoice: 'required',
      responseFormat: 'json',
      tools: [{ name: 'look_up', parameters: { type: 'object' } }],
    },
    {
      max_tokens: 9,
      top_p: 0.5,
      tool_choice: 'required',
      response_format: { type: 'json_object' },
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
    },
  ])('accepts fields in camel case and snake case', async (body) => {
    const { chat, request } = serving({ deltas: saying('{}') })
    expect((await request({ temperature: 2, ...body })).status).toBe(200)
    expect(chat.last).toEqual({
      model: 'model-1',
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 2,
      max_tokens: 9,
      top_p: 0.5,
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      response_format: { type: 'json_object' },
    })
  })

  it('accepts its own answers as messages', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    const { chat, request } = serving({ deltas: saying('done') })
    const messages = [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'call_1', content: 'found' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'found' },
    ]
    expect((await request({ messages })).status).toBe(200)
    expect(chat.last.messages).toEqual([
      { role: 'user', content: 'look' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'found', tool_call_id: 'call_1' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'found', tool_call_id: 'call_1' },
    ])
  })

  it('requires a vision model when a message contains an image', async () => {
    const { chat, request } = serving({ deltas: saying('a cat') })
    const content = [
      { type: 'text', text: 'what is this?' },
      { type: 'image_url', image_url: 'https://images.example/cat.png' },
      { type: 'image', image: 'aGVsbG8=', mimeType: 'image/webp' },
    ]
    await request({ messages: [{ role: 'user', content }] })
    expect(chat.received[0]?.need).toBe('vision')
    expect(chat.last.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what is this?' },
          { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } },
          { type: 'image_url', image_url: { url: 'data:image/webp;base64,aGVsbG8=' } },
        ],
      },
    ])
    await request()
    expect(chat.received[1]?.need).toBe('chat')
  })

  it('accepts fallback models and refuses models that are not a list', async () => {
    const { chat, request } = serving({ deltas: saying('x') })
    expect(await request({ models: ['model-2', 'model-3'] })).toMatchObject({ status: 200 })
    expect(chat.last).toMatchObject({ model: 'model-1', models: ['model-2', 'model-3'] })
    expect(await request({ models: 'model-2' })).toMatchObject({ status: 400, json: { param: 'models' } })
  })

  it('attributes a call to the user that the body names', async () => {
    const { chat, request } = serving({ deltas: saying('hi') })
    await request({ userId: 'ada' })
    await request({ user_id: 'bob' })
    expect(chat.received.map(({ caller }) => caller.externalUserId)).toEqual(['ada', 'bob'])
  })

  it('inserts recalled memories before the last message and reports them', async () => {
    const { chat, memory, request } = serving({ deltas: saying('Oslo is', ' nice.') })
    memory.known = ['The user lives in Oslo.']
    const { json, headers } = await request({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Where do I live?' },
      ],
      memory: { userId: 'ada', topK: 3, namespace: 'work', asOf: '2026-01-01T00:00:00Z' },
    })
    expect(arrayOf(chat.last?.messages).map((message) => objectOf(message).role)).toEqual([
      'user',
      'assistant',
      'system',
      'user',
    ])
    expect(JSON.stringify(arrayOf(chat.last?.messages)[2])).toContain('The user lives in Oslo.')
    expect(memory.recalls).toMatchObject([
      {
        at: { project: 'prj_1', user: 'ada', scope: null, session: null, namespace: 'work' },
        request: { query: 'Where do I live?', topK: 3, asOf: Date.UTC(2026, 0) },
      },
    ])
    expect(checked(json)).toBeNull()
    const receipt = headers['x-service-memory-write-request']
    expect(json).toMatchObject({
      memory: {
        retrieved: [{ id: 'mem_0', score: 0.9, content: 'The user lives in Oslo.' }],
        ...{ written: [], write_status: 'pending', write_request_id: receipt },
      },
    })
    expect(memory.started.map(({ message }) => message.input)).toEqual([
      {
        exchange: { user: 'Where do I live?', assistant: 'Oslo is nice.', recalled: ['The user lives in Oslo.'] },
        source: 'chat',
      },
    ])
  })

  it('streams with the same headers and starts the memory write before the end', async () => {
    const { memory, request } = serving({ deltas: saying('Oslo is', ' nice.') })
    const { headers, text } = await request({ memory: { userId: 'ada' }, stream: true })
    expect(headers['x-service-memory-retrieved']).toBe('0')
    const { memory: block } = objectOf(framesIn(text).at(-2))
    expect(block).toMatchObject({
      write_status: 'pending',
      write_request_id: headers['x-service-memory-write-request'],
    })
    expect(memory.started).toMatchObject([{ message: { input: { exchange: { assistant: 'Oslo is nice.' } } } }])
  })

  it.each([
    ['no field', {}],
    ['false', { memory: false }],
    ['null', { memory: null }],
  ])('uses no memory for %s', async (_, body) => {
    const { memory, request } = serving({ deltas: saying('hi') })
    const { headers, json } = await request(body)
    expect([headers['x-service-memory-retrieved'], objectOf(json).memory, memory.recalls, memory.started]).toEqual([
      undefined,
      undefined,
      [],
      [],
    ])
  })

  it.each([
    ['retrieve', { retrieve: false }, [0, 1]],
    ['write', { write: false }, [1, 0]],
  ])('skips the memory operation that %s: false disables', async (_, field, counts) => {
    const { memory, request } = serving({ deltas: saying('hi') })
    await request({ memory: { userId: 'ada', ...field } })
    expect([memory.recalls.length, memory.started.length]).toEqual(counts)
  })

  it('returns an answer without memories when memory fails, and reports the reason', async () => {
    const { memory, request } = serving({ deltas: saying('hi') })
    memory.failed = 'memory_ops_quota_exceeded'
    memory.down = new Error('no store')
    const { status, headers, json } = await request({ memory: { userId: 'ada' } })
    expect([status, headers['x-service-memory-skipped']]).toEqual([200, 'memory_ops_quota_exceeded'])
    expect(json).toMatchObject({
      content: 'hi',
      memory: { retrieved: [], write_status: 'error', write_request_id: null },
    })
  })

  it('offers memory_fetch in index mode, in addition to the tools of the request', async () => {
    const { chat, memory, request } = serving({ deltas: saying('hi') })
    memory.known = ['The user lives in Oslo.']
    await request({ memory: { userId: 'ada', mode: 'index' }, tools: [{ type: 'function', function: { name: 'a' } }] })
    expect(memory.recalls).toMatchObject([{ request: { mode: 'index' } }])
    expect(arrayOf(chat.last?.tools).map((tool) => objectOf(objectOf(tool).function).name)).toEqual([
      'a',
      'memory_fetch',
    ])
  })

  it('excludes memories inserted into an earlier request from the query and the exchange', async () => {
    const { memory, request } = serving({ deltas: saying('hi') })
    await request({
      messages: [{ role: 'user', content: `${marked('The user lives in Rome.')} Hello` }],
      memory: { userId: 'ada' },
    })
    expect(memory.recalls).toMatchObject([{ request: { query: 'Hello' } }])
    expect(memory.started).toMatchObject([{ message: { input: { exchange: { user: 'Hello' } } } }])
  })

  it.each([
    ['no user', {}, true, 400, 'memory.userId'],
    ['a session without its id', {}, { userId: 'ada', scope: 'session' }, 400, 'memory.sessionId'],
    ['an invalid time', {}, { userId: 'ada', asOf: 'soon' }, 400, 'memory.asOf'],
  ] as const)('refuses %s', async (_, body, field, status, param) => {
    const { memory, request } = serving({ deltas: saying('hi') })
    expect(await request({ ...body, memory: field })).toMatchObject({ status, json: { param } })
    expect(memory.recalls).toEqual([])
  })

  it('accepts public keys from a browser', async () => {
    const as = { ...principals.agent_key, keyType: 'public' as const, allowedDomains: ['https://shop.example'] }
    const { status, headers } = await serving({ deltas: saying('hi') }).request(
      {},
      { as, headers: { origin: 'https://shop.example' } },
    )
    expect(status).toBe(200)
    expect(headers['access-control-allow-origin']).toBe('https://shop.example')
  })

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].image_url'],
    [
      { messages: [{ role: 'assistant', content: null, toolCalls: [{ id: 'a' }] }] },
      'messages[0].tool_calls[0].function.name',
    ],
    [{ temperature: 2.1 }, 'temperature'],
    [{ maxTokens: 0 }, 'maxTokens'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function.name'],
    [{ tools: [{ type: 'web_search_preview' }] }, 'tools[0].type'],
    [{ toolChoice: 'sometimes' }, 'toolChoice'],
    [{ responseFormat: 'xml' }, 'responseFormat'],
    [{ memory: { topK: 'many' } }, 'memory.topK'],
  ])('names the invalid field: %j', async (body, param) => {
    const { chat, request } = serving({})
    expect(await request(body)).toMatchObject({ status: 400, json: { error: 'bad_request', param } })
    expect(chat.received).toEqual([])
  })

  it('returns a flat error when a provider refuses, with and without streaming', async () => {
    const error = new ServiceError('model_not_found', { param: 'model' })
    const { request } = serving({ error, refused: true })
    const expected = { status: 404, json: { error: 'model_not_found', param: 'model', request_id: expect.any(String) } }
    expect(await request()).toMatchObject(expected)
    expect(await request({ stream: true })).toMatchObject(expected)
  })
})

describe('a stream of /api/ai/chat', () => {
  it('has a frame for each delta, a frame with the outcome, and an end mark', async () => {
    const { request } = serving({ deltas: saying('Hello', ' "there"\n') })
    const { status, headers, text } = await request({ stream: true })
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/event-stream')
    expect(headers['x-provider']).toBe('simulated')
    const [first, second, last, ...rest] = text.split('\n\n')
    expect(first).toBe('data: {"delta":"Hello"}')
    expect(second).toBe('data: {"delta":" \\"there\\"\\n"}')
    expect(JSON.parse(last?.slice('data: '.length) ?? '')).toEqual({
      delta: '',
      id: 'chatcmpl-1',
      model: 'model-1-2026',
      provider: 'simulated',
      finishReason: 'stop',
      finish_reason: 'stop',
      usage: expect.objectContaining({ totalTokens: 12, total_tokens: 12 }),
      toolCalls: null,
      tool_calls: null,
      costUsd: 0.000123,
      cost_usd: 0.000123,
    })
    expect(rest).toEqual(['data: [DONE]', ''])
  })

  it('collects tool calls into its last frame', async () => {
    const deltas = [
      ...saying('Looking.'),
      ...calling(0, 'call_1', 'a', '{"x"', ':1}'),
      ...calling(1, 'call_2', 'b', '{}'),
    ]
    const { text } = await serving({ deltas, finishReason: 'tool_calls' }).request({ stream: true })
    const calls = [
      { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
      { id: 'call_2', type: 'function', function: { name: 'b', arguments: '{}' } },
    ]
    expect(framesIn(text).slice(0, -2)).toEqual([{ delta: 'Looking.' }])
    expect(framesIn(text).at(-2)).toMatchObject({ toolCalls: calls, tool_calls: calls, finish_reason: 'tool_calls' })
  })

  it('reports an error and has no end mark when it breaks', async () => {
    const error = new ServiceError('provider_stream_broken')
    const { text } = await serving({ deltas: saying('Hel'), error }).request({ stream: true })
    expect(framesIn(text)).toEqual([
      { delta: 'Hel' },
      { error: 'provider_stream_broken', message: error.message, request_id: expect.any(String) },
    ])
  })

  it('hides the message of an unexpected error', async () => {
    const { text } = await serving({ deltas: saying('Hel'), error: new Error('secret') }).request({ stream: true })
    expect(text).not.toContain('secret')
    expect(framesIn(text).at(-1)).toMatchObject({ error: 'internal_error' })
  })
})

it('a part with hundreds of thousands of citations fails no streamed answer', async () => {
  const citations = Array.from({ length: 200_000 }, () => ({ type: 'char_location' }))
  const { text } = await serving({ deltas: [...saying('Hello'), { citations }] }).request({ stream: true })
  expect(framesIn(text).at(-2)).toMatchObject({ finish_reason: 'stop' })
})
