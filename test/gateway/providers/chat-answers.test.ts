import { describe, expect, it } from 'vitest'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { signatureIn } from '#gateway/providers/tool-call-id.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { anthropic, google } from '../call/wire-samples.ts'
import { decoded, failureCode, formats, hello, requestOf, routeTo, sse } from './format-harness.ts'

const usage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 2 },
}
const counted = { inputTokens: 20, outputTokens: 7, cachedTokens: 5, reasoningTokens: 2 }
const read = (sample: typeof anthropic, text: string, body = hello) =>
  decoded(requestOf(sample.id === 'google' ? 'google' : 'anthropic', sample.model, body).decoder(), [Buffer.from(text)])
const deltasOf = (chunks: readonly object[]): unknown[] =>
  chunks.map((chunk) => objectOf(objectOf(arrayOf(objectOf(chunk).choices)[0]).delta))
const messageOf = (completion: unknown) => objectOf(objectOf(arrayOf(objectOf(completion).choices)[0]).message)

describe('a stream of Anthropic', () => {
  it('is translated to chunks: the role, the text as it arrives, the finish reason, the usage', () => {
    const { chunks, end } = read(anthropic, anthropic.text)
    expect(chunks).toHaveLength(5)
    expect(chunks.every((chunk) => chunk.object === 'chat.completion.chunk' && chunk.id === 'msg_1')).toBe(true)
    expect(chunks[0]).toEqual({
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'claude-haiku-4-5-20251001',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    })
    expect(deltasOf(chunks).slice(1, 3)).toEqual([{ content: 'Hello ' }, { content: 'wörld 🌍' }])
    expect(chunks[3]).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    expect(chunks[4]).toMatchObject({ choices: [], usage })
    expect(end).toEqual({ model: 'claude-haiku-4-5-20251001', usage: counted, finishReason: 'stop' })
  })

  it('has tool calls in pieces, and {} for a call without arguments', () => {
    const { chunks, end } = read(anthropic, anthropic.calls)
    expect(end.finishReason).toBe('tool_calls')
    const completion = completionOf(chunks)
    expect(messageOf(completion)).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'Hm.',
      thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }],
      tool_calls: [
        { id: 'call_a', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
        { id: 'call_b', type: 'function', function: { name: 'get_time', arguments: '{}' } },
      ],
    })
    const [first] = arrayOf(objectOf(deltasOf(chunks).find((delta) => 'tool_calls' in objectOf(delta))).tool_calls)
    expect(first).toEqual({
      index: 0,
      id: 'call_a',
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'stop'],
  ])('that stops with %s has the finish reason %s', (stop_reason, finishReason) => {
    const message = { id: 'm', type: 'message', model: 'c', content: [], stop_reason, usage: { input_tokens: 1 } }
    expect(requestOf('anthropic', 'c').answer(message).finishReason).toBe(finishReason)
  })

  it('has the stop sequence that ended it, with and without streaming', () => {
    const stop = { stop_reason: 'stop_sequence', stop_sequence: 'END' }
    const message = { id: 'm', type: 'message', model: 'c', content: [], ...stop, usage: { input_tokens: 1 } }
    const named = [{ finish_reason: 'stop', stop_reason: 'END' }]
    expect(requestOf('anthropic', 'c').answer(message).completion).toMatchObject({ choices: named })
    const events = [
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } },
      { type: 'message_delta', delta: stop, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ]
    const { chunks } = decoded(requestOf('anthropic', 'c').decoder(), [sse(...events)])
    expect(chunks).toContainEqual(expect.objectContaining({ choices: [expect.objectContaining(named[0])] }))
  })

  it('has the input of the answer tool as its text', () => {
    const body = { ...hello, response_format: { type: 'json_object' } }
    const events = [
      { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'answer_in_json' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ]
    const { chunks, end } = decoded(requestOf('anthropic', 'claude-haiku-4-5', body).decoder(), [sse(...events)])
    expect(end.finishReason).toBe('stop')
    expect(messageOf(completionOf(chunks))).toEqual({ role: 'assistant', content: '{"a":1}', refusal: null })
  })

  it('counts cache writes as input, in addition to cache reads', () => {
    const counts = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1_000,
      output_tokens: 1,
    }
    const message = { id: 'm', type: 'message', model: 'c', content: [], stop_reason: 'end_turn', usage: counts }
    const { usage: counted, completion } = requestOf('anthropic', 'c').answer(message)
    expect(counted).toMatchObject({ inputTokens: 1_110, cachedTokens: 100, cacheWriteTokens: 1_000, outputTokens: 1 })
    expect(completion.usage).toMatchObject({
      prompt_tokens: 1_110,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 1_000 },
    })
  })

  it('has no usage when the provider reports none', () => {
    const message = { id: 'm', type: 'message', model: 'c', content: [], stop_reason: 'end_turn' }
    const { usage: none, completion } = requestOf('anthropic', 'c').answer(message)
    expect(none).toBeNull()
    expect(completion).not.toHaveProperty('usage')
  })

  it('accepts a call in one piece of a compatible server, and ignores unknown events', () => {
    const events = [
      { type: 'message_start', message: {} },
      { type: 'something_new' },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'server_tool_use', id: 's', name: 'web' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
      { type: 'message_stop' },
    ]
    const { chunks } = decoded(requestOf('anthropic', 'm').decoder(), [sse(...events)])
    expect(messageOf(completionOf(chunks)).tool_calls).toEqual([
      { id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
    ])
  })

  it('ends with its end mark and ignores later data', () => {
    const decoder = requestOf('anthropic', 'm').decoder()
    decoder.push(Buffer.from(anthropic.text))
    expect(decoder.done).toBe(true)
    expect(decoder.push(Buffer.from(anthropic.text))).toEqual([])
  })
})

describe('an answer of Anthropic without streaming', () => {
  it('equals the completion of its stream', () => {
    const message = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001' },
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'tool_use', id: 'call_a', name: 'get_weather', input: { city: 'Köln' } },
        { type: 'tool_use', id: 'call_b', name: 'get_time', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: {
        ...{ input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 7 },
        output_tokens_details: { thinking_tokens: 2 },
      },
    }
    const { completion, ...end } = requestOf('anthropic', anthropic.model).answer(message)
    const streamed = read(anthropic, anthropic.calls)
    expect(completion).toEqual(completionOf(streamed.chunks))
    expect(completion).toMatchObject({ object: 'chat.completion', usage })
    expect(end).toEqual(streamed.end)
  })

  it.each([
    ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 'provider_unavailable'],
    ['text', 'hello', 'provider_error'],
    ['something else', { choices: [] }, 'provider_error'],
  ])('that is %s causes an error', (_, json, code) => {
    expect(failureCode(() => requestOf('anthropic', 'm').answer(json))).toBe(code)
  })
})

describe('a stream of Google', () => {
  it('is translated to chunks: the role, thoughts and text, the finish reason, the usage', () => {
    const { chunks, end } = read(google, google.text)
    expect(deltasOf(chunks)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'a thought' },
      { content: 'Hello ' },
      { content: 'wörld 🌍' },
      {},
      {},
    ])
    expect(chunks[4]).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(chunks[5]).toMatchObject({ choices: [], usage })
    expect(end).toEqual({ model: 'gemini-2.5-flash', usage: counted, finishReason: 'stop' })
  })

  it('has tool calls in one piece, with the signature in the id', () => {
    const { chunks, end } = read(google, google.calls)
    expect(end.finishReason).toBe('tool_calls')
    const calls = arrayOf(messageOf(completionOf(chunks)).tool_calls).map(objectOf)
    expect(calls).toMatchObject([
      { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
      { id: 'call_b', type: 'function', function: { name: 'get_time', arguments: '{}' } },
    ])
    const id = textOf(calls[0]?.id)
    expect(id).toMatch(/^call_a__sig_[\w-]+$/)
    expect(signatureIn(id, google.model)).toBe('c2ln')
    expect(signatureIn(id, 'gemini-3-other')).toBeNull()
  })

  it('assigns unique ids to calls without one', () => {
    const call = { functionCall: { name: 'f' } }
    const json = { candidates: [{ content: { parts: [call, call] }, finishReason: 'STOP' }] }
    const calls = arrayOf(messageOf(requestOf('google', 'm').answer(json).completion).tool_calls).map(objectOf)
    expect(calls.map(({ id }) => textOf(id).slice(0, 9))).toEqual(['call_own_', 'call_own_'])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['OTHER', 'stop'],
  ])('that stops with %s has the finish reason %s', (finishReason, expected) => {
    expect(requestOf('google', 'm').answer({ candidates: [{ finishReason }] }).finishReason).toBe(expected)
  })

  it('ends with content_filter when the prompt is blocked', () => {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4 } }
    const { finishReason, completion, usage: used } = requestOf('google', 'm').answer(blocked)
    expect(finishReason).toBe('content_filter')
    expect(messageOf(completion)).toMatchObject({ role: 'assistant', content: '' })
    expect(used).toMatchObject({ inputTokens: 4, outputTokens: 0 })
  })

  it('keeps parallel candidates separate', () => {
    const json = {
      candidates: [
        { index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' },
        { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'MAX_TOKENS' },
      ],
    }
    expect(requestOf('google', 'm').answer(json).completion.choices).toMatchObject([
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' }, finish_reason: 'length' },
    ])
  })

  it('has the images that the model generated', () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
    const { completion } = requestOf('google', 'm').answer({
      candidates: [{ content: { parts }, finishReason: 'STOP' }],
    })
    expect(messageOf(completion).images).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ])
  })

  it.each([
    ['a malformed function call', { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'provider_error'],
    ['an error', { error: { code: 503, status: 'UNAVAILABLE' } }, 'provider_unavailable'],
    ['no candidate', {}, 'provider_stream_broken'],
    ['text', 'hello', 'provider_error'],
  ])('that is %s causes an error', (_, json, code) => {
    expect(failureCode(() => requestOf('google', 'm').answer(json))).toBe(code)
  })
})

describe('a refusal of a provider', () => {
  const failure = (format: 'anthropic' | 'google', status: number, error: object, retryAfter: string | null = null) =>
    formats[format].failure({ status, body: JSON.stringify({ error }), retryAfter }, 0)

  it.each([
    ['anthropic', 429, anthropic.rateLimit, 'provider_rate_limited', true],
    ['anthropic', 529, { type: 'overloaded_error' }, 'provider_unavailable', true],
    ['anthropic', 500, { type: 'api_error' }, 'provider_error', true],
    ['anthropic', 400, anthropic.tooLong, 'context_length_exceeded', false],
    ['anthropic', 400, { type: 'invalid_request_error', message: 'bad' }, 'bad_request', false],
    ['anthropic', 401, { type: 'authentication_error' }, 'provider_error', false],
    ['anthropic', 404, { type: 'not_found_error' }, 'model_not_found', false],
    ['google', 429, google.rateLimit, 'provider_rate_limited', true],
    ['google', 503, { status: 'UNAVAILABLE' }, 'provider_unavailable', true],
    ['google', 400, google.tooLong, 'context_length_exceeded', false],
  ] as const)('from %s with %d becomes %s', (format, status, error, code, retryable) => {
    const failed = failure(format, status, error)
    expect([failed.error.code, failed.retryable]).toEqual([code, retryable])
  })

  it('has the retry delay of the header or the body', () => {
    expect(failure('anthropic', 429, {}, '3').error.retryAfterMs).toBe(3_000)
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }]
    expect(failure('google', 429, { details }).error.retryAfterMs).toBe(34_500)
  })

  it('with status 400 for a wrong key is recognised for Google, also in a list', () => {
    const error = { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }
    const failed = formats.google.failure({ status: 400, body: JSON.stringify([{ error }]), retryAfter: null }, 0)
    expect(failed.error.message).toMatch(/refused the key/)
  })

  it('never contains a key that the provider quotes', () => {
    const error = { type: 'invalid_request_error', message: 'sk-ant-secret is wrong' }
    expect(failure('anthropic', 400, error).error.message).not.toContain('secret')
    const quoted = { status: 'INVALID_ARGUMENT', message: 'bad key AIzaSyB-secret' }
    expect(failure('google', 400, quoted).error.message).not.toContain('secret')
  })
})

it('each request is built for its own route', () => {
  expect(formats.google.request(hello, routeTo('google', 'gemini-x'), true).path).toContain('gemini-x')
})

describe('an answer that is put together from its stream', () => {
  const of = (delta: object, more: object = {}) => ({ id: 'c', model: 'm', choices: [{ index: 0, delta, ...more }] })
  const token = (text: string) => ({ token: text, logprob: -0.1, bytes: null, top_logprobs: [] })

  it('has the refusal of the model, and its reasoning by either name', () => {
    expect(messageOf(completionOf([of({ refusal: 'I ' }), of({ refusal: 'cannot.' })]))).toMatchObject({
      ...{ content: '', refusal: 'I cannot.' },
    })
    const reasoned = [of({ reasoning: 'Hm' }), of({ reasoning: '.' }), of({ content: 'Hi' })]
    expect(messageOf(completionOf(reasoned))).toMatchObject({ content: 'Hi', reasoning_content: 'Hm.' })
  })

  it('has the log probabilities of all its tokens', () => {
    const logprobs = (text: string) => ({ logprobs: { content: [token(text)], refusal: null } })
    const { choices } = completionOf([of({ content: 'a' }, logprobs('a')), of({ content: 'b' }, logprobs('b')), of({})])
    expect(choices).toMatchObject([{ logprobs: { content: [token('a'), token('b')], refusal: null } }])
  })
})
