import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { principals } from '#test/transport/api/serving.ts'
import { declaredAnswer } from './form-server.ts'
import { request, serving } from './messages-world.ts'
import { calling, type Script, saying } from './scripted-chat.ts'

const tool = { name: 'look_up', description: 'Looks up.', input_schema: { type: 'object' as const, properties: {} } }
const checked = declaredAnswer(messages['messages.create'])

describe('/v1/messages', () => {
  it('answers a message request of the official SDK', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('Hello', ' there.') }])
    const { _request_id, ...message } = await anthropic.messages.create({ ...request, system: 'Be short.' })
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'model-1-2026',
      content: [{ type: 'text', text: 'Hello there.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, cache_read_input_tokens: 2, cache_creation_input_tokens: 0, output_tokens: 5 },
    })
    expect(_request_id).toMatch(/^[\w-]{8,}$/)
    expect(checked(message)).toBeNull()
    expect(chat.last).toEqual({
      model: 'model-1',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hi' },
      ],
      max_tokens: 100,
    })
  })

  it('leaves citations out of a text without any, whole or streamed, since the AI SDK refuses null', async () => {
    const { send } = serving([{ deltas: saying('Hello') }])
    const whole = await send('/v1/messages', request)
    expect(whole.json).toMatchObject({ content: [{ type: 'text', text: 'Hello' }] })
    const streamed = await send('/v1/messages', { ...request, stream: true })
    for (const text of [whole.text, streamed.text]) expect(text).not.toContain('citations')
  })

  it('translates tools, tool results and images to chat completions', async () => {
    const { anthropic, chat } = serving([
      { deltas: calling(0, 'call_2', 'look_up', '{"q":', '1}'), finishReason: 'tool_calls' },
    ])
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGVsbG8=' }
    const message = await anthropic.messages.create({
      ...request,
      stop_sequences: ['END'],
      tools: [tool],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', source },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hmm.', signature: 'sig' },
            { type: 'text', text: 'Looking.' },
            { type: 'tool_use', id: 'call_1', name: 'look_up', input: { q: 0 } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [
                { type: 'text', text: 'found' },
                { type: 'image', source },
              ],
            },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    })
    expect(message).toMatchObject({
      content: [{ type: 'tool_use', id: 'call_2', name: 'look_up', input: { q: 1 } }],
      stop_reason: 'tool_use',
    })
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }
    expect(chat.received[0]?.need).toBe('vision')
    expect(chat.last).toEqual({
      model: 'model-1',
      max_tokens: 100,
      stop: ['END'],
      tools: [
        { type: 'function', function: { name: 'look_up', description: 'Looks up.', parameters: tool.input_schema } },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":0}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'found' },
        { role: 'user', content: [image, { type: 'text', text: 'and?' }] },
      ],
    })
  })

  it('passes thinking, cache markers and the service tier to Anthropic', async () => {
    const signed = [{ type: 'thinking', thinking: 'Hmm.', signature: 'sig' }]
    const { anthropic, chat } = serving([{ deltas: saying('ok') }], 'anthropic')
    const cache_control = { type: 'ephemeral' as const }
    await anthropic.messages.create({
      ...request,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      metadata: { user_id: 'u_1' },
      service_tier: 'standard_only',
      system: [{ type: 'text', text: 'Be short.', cache_control }],
      messages: [
        { role: 'user', content: 'look' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hmm.', signature: 'sig' },
            { type: 'text', text: 'So.' },
          ],
        },
        { role: 'user', content: 'and?' },
      ],
    })
    expect(chat.last).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 1024 },
      user: 'u_1',
      service_tier: 'default',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be short.', cache_control }] },
        { role: 'user' },
        { role: 'assistant', content: 'So.', thinking_blocks: signed },
        { role: 'user' },
      ],
    })
  })

  it('passes cache markers, tool errors and the thinking effort to Anthropic unchanged', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('ok') }], 'anthropic')
    const cache_control = { type: 'ephemeral' as const, ttl: '1h' as const }
    await anthropic.messages.create({
      ...request,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max' },
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look_up', input: {}, cache_control }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'gone', is_error: true, cache_control }],
        },
      ],
    })
    expect(chat.last).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max' },
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', cache_control }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'gone', is_error: true, cache_control },
      ],
    })
    expect(chat.last).not.toHaveProperty('reasoning_effort')
  })

  it('marks a failed tool result with a text prefix for other providers', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('ok') }])
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'gone', is_error: true }
    await anthropic.messages.create({ ...request, messages: [{ role: 'user', content: [result] }] })
    expect(chat.last.messages).toEqual([{ role: 'tool', tool_call_id: 'call_1', content: 'Error: gone' }])
  })

  it.each([
    ['a model that thinks', { provider: 'openai', model: 'gpt-5' }],
    ['an unknown model', {}],
  ])('sends %s the reasoning effort', async (_, seller) => {
    const { anthropic, chat } = serving([{ deltas: saying('ok') }], 'openai', seller)
    await anthropic.messages.create({ ...request, output_config: { effort: 'max' } })
    expect(chat.last.reasoning_effort).toBe('high')
  })

  it('sends no reasoning effort to a model that does not think', async () => {
    const seller = { provider: 'openai', model: 'gpt-4o' }
    const { anthropic, chat } = serving([{ deltas: saying('ok') }], 'openai', seller)
    await anthropic.messages.create({ ...request, output_config: { effort: 'max' } })
    expect(chat.last).not.toHaveProperty('reasoning_effort')
  })

  it('reports cache writes by their lifetime', async () => {
    const usage = { inputTokens: 12, cachedTokens: 0, cacheWriteTokens: 5, cacheWriteLongTokens: 3 }
    const { anthropic } = serving([{ deltas: saying('ok'), usage }])
    expect((await anthropic.messages.create(request)).usage).toMatchObject({
      ...{ input_tokens: 7, cache_creation_input_tokens: 5 },
      cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 3 },
    })
  })

  it('accepts a document of content blocks', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('ok') }])
    const source = { type: 'content' as const, content: [{ type: 'text' as const, text: 'one' }] }
    await anthropic.messages.create({
      ...request,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    })
    expect(chat.last.messages).toEqual([{ role: 'user', content: 'one' }])
  })

  it('requests JSON with the schema of the request', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('{}') }])
    const schema = { type: 'object', properties: {} }
    await anthropic.messages.create({ ...request, output_config: { format: { type: 'json_schema', schema } } })
    expect(chat.last.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    })
  })

  it('stops with tool_use when a forced call ends with stop, as at OpenAI', async () => {
    const { anthropic } = serving([{ deltas: calling(0, 'call_1', 'look_up', '{}'), finishReason: 'stop' }])
    const forced = { ...request, tools: [tool], tool_choice: { type: 'tool' as const, name: 'look_up' } }
    const stop = { stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'look_up' }] }
    expect(await anthropic.messages.create(forced)).toMatchObject(stop)
    expect(await anthropic.messages.stream(forced).finalMessage()).toMatchObject(stop)
  })

  it.each([
    ['stop', { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['length', { stop_reason: 'max_tokens', stop_sequence: null }],
  ])('reports the stop sequence of the provider when the answer ends with %s', async (finishReason, stop) => {
    const { anthropic } = serving([{ deltas: saying('x'), finishReason, stopText: 'END' }])
    expect(await anthropic.messages.create(request)).toMatchObject(stop)
    expect(await anthropic.messages.stream(request).finalMessage()).toMatchObject(stop)
  })

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
  ])('translates the finish reason %s to %s', async (finishReason, stop_reason) => {
    const { anthropic } = serving([{ deltas: saying('x'), finishReason }])
    expect(await anthropic.messages.create(request)).toMatchObject({ stop_reason })
    expect(await anthropic.messages.stream(request).finalMessage()).toMatchObject({ stop_reason })
  })

  it.each([
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }, 'messages[0].content[0].tool_use_id'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'a/b,c', data: 'aGk=' } }] },
        ],
      },
      'messages[0].content[0].source.media_type',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file' } }] }] },
      'messages[0].content[0].source.type',
    ],
    [{ tools: [{ type: 'bash_20250124', name: 'bash' }], tool_choice: { type: 'tool', name: 'bash' } }, 'tool_choice'],
    [{ tools: [{ name: 'x' }] }, 'tools[0].input_schema'],
    [{ output_config: { format: { type: 'xml' } } }, 'output_config.format'],
    [{ mcp_servers: [{ type: 'url', url: 'https://tools.example', name: 'tools' }] }, 'mcp_servers'],
  ])('names the invalid field of %j', async (body, param) => {
    const { send, chat } = serving([{}])
    const { status, json } = await send('/v1/messages', { ...request, ...body })
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { type: 'error', error: { type: 'invalid_request_error', param }, request_id: expect.any(String) },
    })
    expect(chat.received).toEqual([])
  })

  it.each([
    ['model_not_found', Anthropic.NotFoundError, 'not_found_error'],
    ['rate_limit_exceeded', Anthropic.RateLimitError, 'rate_limit_error'],
    ['provider_rate_limited', Anthropic.RateLimitError, 'rate_limit_error'],
    ['budget_exceeded', Anthropic.PaymentRequiredError, 'billing_error'],
    ['context_length_exceeded', Anthropic.BadRequestError, 'invalid_request_error'],
    ['provider_error', Anthropic.InternalServerError, 'api_error'],
    ['provider_unavailable', Anthropic.ServiceUnavailableError, 'overloaded_error'],
  ] as const)('reports %s with the matching error class of the SDK', async (code, kind, type) => {
    const { anthropic } = serving([{ error: new ServiceError(code), refused: true }])
    for (const stream of [false, true]) {
      const refused = await anthropic.messages.create({ ...request, stream }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(kind)
      expect(refused).toMatchObject({ type })
    }
  })

  it('refuses public keys', async () => {
    const as = { ...principals.agent_key, keyType: 'public' as const }
    const { json, status } = await serving([{}]).send('/v1/messages', request, { as })
    expect({ status, json }).toMatchObject({ status: 403, json: { error: { type: 'permission_error' } } })
  })
})

describe('a stream of /v1/messages', () => {
  const eventsOf = async (script: Script) => {
    const events: Anthropic.MessageStreamEvent[] = []
    for await (const event of await serving([script]).anthropic.messages.create({ ...request, stream: true }))
      events.push(event)
    return events
  }

  it('has the documented events in order', async () => {
    const deltas = [
      { reasoning_content: 'Hmm.' },
      ...saying('So', '.'),
      ...calling(0, 'call_1', 'look_up', '{"q":', '1}'),
    ]
    const events = await eventsOf({ deltas, finishReason: 'tool_calls' })
    expect(events.map((event) => [event.type, 'index' in event ? event.index : null])).toEqual([
      ['message_start', null],
      ['content_block_start', 0],
      ['content_block_delta', 0],
      ['content_block_stop', 0],
      ['content_block_start', 1],
      ['content_block_delta', 1],
      ['content_block_delta', 1],
      ['content_block_stop', 1],
      ['content_block_start', 2],
      ['content_block_delta', 2],
      ['content_block_delta', 2],
      ['content_block_stop', 2],
      ['message_delta', null],
      ['message_stop', null],
    ])
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 5 },
    })
  })

  it.each([
    ['a text', saying('Hello', ' there.')],
    ['reasoning and a text', [{ reasoning_content: 'Hmm.' }, ...saying('Yes.')]],
    [
      'signed thinking',
      [
        { reasoning_content: 'Hm' },
        { reasoning_content: 'm.' },
        { thinking_blocks: [{ type: 'thinking', thinking: 'Hmm.', signature: 'sig' }] },
        ...saying('Yes.'),
      ],
    ],
    ['hidden thinking', [{ thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] }, ...saying('Yes.')]],
    [
      'two calls after a text',
      [...saying('So.'), ...calling(0, 'call_1', 'a', '{"x":', '1}'), ...calling(1, 'call_2', 'b', '{}')],
    ],
    [
      'two calls whose arguments come in turns',
      [
        ...calling(0, 'call_1', 'a', '{"x":'),
        ...calling(1, 'call_2', 'b', '{"y":'),
        ...[0, 1].map((index) => ({ tool_calls: [{ index, function: { arguments: `${index}}` } }] })),
      ],
    ],
    ['nothing', []],
  ])('adds up to the same message as without streaming, for %s', async (_, deltas) => {
    const { anthropic } = serving([{ deltas }])
    const streamed = await anthropic.messages.stream(request).finalMessage()
    const whole = await anthropic.messages.create(request)
    // The SDK keeps only the fields of a stream's usage that it knows.
    const { id: _id, usage, ...plain } = whole
    expect(usage).toMatchObject({ cost_usd: expect.any(Number) })
    const { input_tokens, output_tokens } = usage
    expect(streamed).toMatchObject({ ...plain, usage: { input_tokens, output_tokens } })
  })

  it('causes an error of the SDK when it breaks', async () => {
    const error = new ServiceError('provider_stream_broken')
    const { anthropic } = serving([{ deltas: saying('Hel'), error }])
    const broken = await anthropic.messages
      .stream(request)
      .finalMessage()
      .catch((thrown: unknown) => thrown)
    expect(broken).toBeInstanceOf(Anthropic.APIError)
    expect(broken).toMatchObject({ type: 'api_error', message: expect.stringContaining(error.message) })
  })
})
