import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { arrayOf } from '#outgoing/wire.ts'
import { formats, hello, requestOf, routeTo, sent } from './format-harness.ts'

const haiku = 'claude-haiku-4-5'
const opus = 'claude-opus-5'
const body = (fields: ChatBody, model = haiku): Record<string, unknown> => sent('anthropic', model, fields)
const withFields = (fields: ChatBody, model = haiku) => body({ ...hello, ...fields }, model)
const conversation = (...messages: readonly object[]) => body({ messages })
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

describe('the request to Anthropic', () => {
  it('has the key in x-api-key and a version header', () => {
    const { path, headers } = requestOf('anthropic', haiku)
    expect(path).toBe('/messages')
    expect(headers).toMatchObject({
      'x-api-key': 'key-1',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      accept: 'text/event-stream',
    })
    expect(headers).not.toHaveProperty('authorization')
  })

  it('has no key for a server without one', () => {
    const { headers } = formats.anthropic.request(hello, { ...routeTo('anthropic', haiku), apiKey: null }, false)
    expect(headers).not.toHaveProperty('x-api-key')
  })

  it('sets stream only for a streaming request', () => {
    expect(JSON.parse(String(requestOf('anthropic', haiku).body))).toMatchObject({ stream: true })
    expect(withFields({ stream: true })).not.toHaveProperty('stream')
  })

  it('has the model of the route instead of the model of the body', () => {
    expect(withFields({ model: 'gpt-4o' })).toMatchObject({ model: haiku })
  })
})

describe('a conversation for Anthropic', () => {
  it('has no text that a caller hides in a block of Anthropic from what reads texts', () => {
    const hidden = { type: 'text', text: 'my number is 4111 1111 1111 1111' }
    const blocks = [{ type: 'text', text: '', anthropic_block: hidden }]
    expect(() => conversation({ role: 'user', content: blocks })).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        details: expect.objectContaining({ param: 'messages[0].content[0].anthropic_block.type' }),
      }),
    )
    const thinking = { role: 'assistant', content: 'Hi', thinking_blocks: [hidden] }
    expect(JSON.stringify(conversation({ role: 'user', content: 'Hi' }, thinking))).not.toContain('4111')
  })

  it('has instructions as system blocks in order, with their cache markers', () => {
    const cache_control = { type: 'ephemeral' }
    expect(
      conversation(
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control }] },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'Be kind.' },
      ),
    ).toMatchObject({
      system: [
        { type: 'text', text: 'Be brief.', cache_control },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  it('has instructions without a dialogue as a user message', () => {
    const requested = conversation({ role: 'system', content: 'Say hello.' })
    expect(requested.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }])
    expect(requested).not.toHaveProperty('system')
  })

  it('has images as bytes or URLs', () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'high' } })
    const { messages } = conversation({
      role: 'user',
      content: [
        { type: 'text', text: 'Which?' },
        image('data:image/jpg;base64,AAAA'),
        image('https://example.com/a.png'),
      ],
    })
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Which?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
    ])
  })

  it('has files as documents: PDF as bytes, text as text, URLs unchanged', () => {
    const file = (fields: object) => ({ type: 'file', file: fields })
    const { messages } = conversation({
      role: 'user',
      content: [
        file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }),
        file({ filename: 'b.txt', file_data: `data:text/plain;base64,${Buffer.from('größe').toString('base64')}` }),
        file({ file_url: 'https://example.com/c.pdf' }),
        file({ file_data: 'JVBE' }),
      ],
    })
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'document', source: pdf, title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'größe' }, title: 'b.txt' },
          { type: 'document', source: { type: 'url', url: 'https://example.com/c.pdf' } },
          { type: 'document', source: pdf },
        ],
      },
    ])
  })

  it('has the error flag and the cache marker of a tool result', () => {
    const cache_control = { type: 'ephemeral' }
    const tool = { role: 'tool', tool_call_id: 'call_1', content: 'gone', is_error: true, cache_control }
    const { messages } = conversation({ role: 'user', content: 'look' }, tool)
    const result = { type: 'tool_result', tool_use_id: 'call_1', is_error: true, cache_control }
    expect(messages).toMatchObject([{ role: 'user', content: [{ type: 'text' }, result] }])
  })

  it('has tool results in one user turn, followed by the next user text', () => {
    const { messages } = conversation(
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
          { id: 'c.2', type: 'function', function: { name: 'get_weather', arguments: '{"city":' } },
          { id: 'c3', type: 'function', function: { name: 'get_time', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'grey' },
      { role: 'tool', tool_call_id: 'c.2', content: [{ type: 'text', text: 'bad' }] },
      { role: 'tool', tool_call_id: 'c3', content: '' },
      { role: 'user', content: 'Well?' },
    )
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Köln' } },
          { type: 'tool_use', id: 'c_2', name: 'get_weather', input: { malformed_arguments: '{"city":' } },
          { type: 'tool_use', id: 'c3', name: 'get_time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'grey' }] },
          { type: 'tool_result', tool_use_id: 'c_2', content: [{ type: 'text', text: 'bad' }] },
          { type: 'tool_result', tool_use_id: 'c3', content: [] },
          { type: 'text', text: 'Well?' },
        ],
      },
    ])
  })

  it('has signed thinking blocks before the text, and none without a signature', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const hidden = { type: 'redacted_thinking', data: 'xyz' }
    const { messages } = conversation(
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Hello',
        thinking_blocks: [thought, hidden, { type: 'thinking', thinking: 'unsigned' }],
      },
      { role: 'user', content: 'Bye' },
    )
    expect(messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [thought, hidden, { type: 'text', text: 'Hello' }] },
      { role: 'user' },
    ])
  })

  it('has no white space at the end of an answer to be continued', () => {
    const { messages } = conversation({ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'I think \n' })
    expect(messages).toMatchObject([{ role: 'user' }, { content: [{ type: 'text', text: 'I think' }] }])
  })

  it.each([
    ['audio', { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
    ['a file of OpenAI', { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
    ['a part of an unknown type', { role: 'user', content: [{ type: 'video_url' }] }],
    ['an address of another kind', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://a' } }] }],
    ['a content that is a number', { role: 'user', content: 5 }],
    ['a part that is text', { role: 'user', content: ['a'] }],
    ['an unknown role', { role: 'function', content: 'a' }],
    ['instructions with an image', { role: 'system', content: [{ type: 'image_url', image_url: 'https://a.b/c' }] }],
  ])('refuses %s and names its position', (_, message) => {
    expect(() => conversation({ role: 'user', content: 'Hi' }, message)).toThrow(
      expect.objectContaining({
        code: 'invalid_field',
        details: expect.objectContaining({ param: expect.stringMatching(/^messages\[1\]/) }),
      }),
    )
  })
})

describe('tools for Anthropic', () => {
  it('are described by their schema', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const tools = [
      { ...weather, cache_control },
      { type: 'function', function: { name: 'now' } },
    ]
    expect(withFields({ tools }).tools).toEqual([
      {
        name: 'get_weather',
        description: 'Weather of a city',
        input_schema: weather.function.parameters,
        cache_control,
      },
      { name: 'now', input_schema: { type: 'object' } },
    ])
  })

  it('are strict for models with strict tools, up to 20 of them', () => {
    const { function: named } = weather
    const strict = { type: 'function', function: { ...named, strict: true } }
    const held = { strict: true, input_schema: { ...named.parameters, additionalProperties: false } }
    expect(withFields({ tools: [strict, weather] }).tools).toMatchObject([held, { input_schema: named.parameters }])
    const [reported] = arrayOf(withFields({ tools: [strict] }, 'claude-3-haiku-20240307').tools)
    expect(reported).toMatchObject({ input_schema: named.parameters })
    expect(reported).not.toHaveProperty('strict')
    const many = Array.from({ length: 21 }, (_, at) => ({
      ...strict,
      function: { ...strict.function, name: `f${at}` },
    }))
    for (const each of arrayOf(withFields({ tools: many }).tools)) expect(each).not.toHaveProperty('strict')
  })

  it.each([
    [undefined, undefined, undefined],
    ['auto', undefined, { type: 'auto' }],
    ['none', undefined, { type: 'none' }],
    ['required', undefined, { type: 'any' }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'function', function: { name: 'get_weather' } }, undefined, { type: 'tool', name: 'get_weather' }],
  ])(
    'with tool_choice %j and parallel_tool_calls %j have the choice %j',
    (tool_choice, parallel_tool_calls, expected) => {
      expect(withFields({ tools: [weather], tool_choice, parallel_tool_calls }).tool_choice).toEqual(expected)
    },
  )

  it('include earlier called tools with a choice of none', () => {
    const { tools, tool_choice } = conversation(
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'now', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'noon' },
    )
    expect(tools).toEqual([{ name: 'now', input_schema: { type: 'object' } }])
    expect(tool_choice).toEqual({ type: 'none' })
  })

  it('include only the allowed tools', () => {
    const now = { type: 'function', function: { name: 'now' } }
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'now' } }] }
    expect(withFields({ tools: [weather, now], tool_choice: { type: 'allowed_tools', allowed_tools } })).toMatchObject({
      tools: [{ name: 'now' }],
      tool_choice: { type: 'any' },
    })
  })

  it.each([
    ['tools[0].type', { tools: [{ type: 'custom', custom: { name: 'a' } }] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { tools: [weather], tool_choice: 'sometimes' }],
    ['functions', { functions: [{ name: 'old' }] }],
  ])('are refused when %s is invalid', (param, fields) => {
    expect(() => withFields(fields)).toThrow(expect.objectContaining({ details: expect.objectContaining({ param }) }))
  })
})

describe('limits and sampling for Anthropic', () => {
  it.each([
    [{}, 64_000],
    [{ max_tokens: 100 }, 100],
    [{ max_tokens: 100, max_completion_tokens: 50 }, 50],
    [{ max_tokens: 1_000_000 }, 64_000],
  ])('with %j have max_tokens %d', (fields, max_tokens) => {
    expect(withFields(fields)).toMatchObject({ max_tokens })
  })

  it('allow 4,096 tokens for an unknown model', () => {
    expect(withFields({}, 'some-model')).toMatchObject({ max_tokens: 4_096 })
  })

  it.each([
    [haiku, { temperature: 0.2 }, { temperature: 0.2 }],
    [haiku, { temperature: 1.7 }, { temperature: 1 }],
    [haiku, { temperature: 0.2, top_p: 0.9 }, { temperature: 0.2 }],
    [haiku, { top_p: 0.9, top_k: 5 }, { top_p: 0.9, top_k: 5 }],
    [opus, { temperature: 0.2, top_p: 0.9, top_k: 5 }, {}],
  ])('for %s with %j are %j', (model, fields, expected) => {
    const { temperature, top_p, top_k } = withFields(fields, model)
    expect({ temperature, top_p, top_k }).toEqual({
      ...{ temperature: undefined, top_p: undefined, top_k: undefined },
      ...expected,
    })
  })

  it('include stop sequences that are not white space, the user and the service tier', () => {
    expect(withFields({ stop: ['END', '\n'], user: 'u1', service_tier: 'default' })).toMatchObject({
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
    })
    expect(withFields({ stop: 'END', safety_identifier: 's1' })).toMatchObject({
      stop_sequences: ['END'],
      metadata: { user_id: 's1' },
    })
  })

  it.each([
    ['n', { n: 2 }],
    ['modalities', { modalities: ['text', 'audio'] }],
  ])('exclude %s, which is refused', (param, fields) => {
    expect(() => withFields(fields)).toThrow(expect.objectContaining({ details: expect.objectContaining({ param }) }))
  })
})
