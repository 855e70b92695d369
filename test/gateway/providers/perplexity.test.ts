import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { perplexityFormat } from '#gateway/providers/perplexity/perplexity-format.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { type Answer, cut, refusal, trickled, whole } from '../call/scripted-upstream.ts'
import { type ChatWorld, hello, json, openChatWorld } from '../chat/chat-world.ts'

/* The Agent API, with requests, answers and events as in Perplexity's reference and migration guide. */

const source = { id: 1, title: 'Cats', url: 'https://cats.example/', date: '2026-11-01', snippet: 'Cats purr.' }
const search = { type: 'search_results', queries: ['cats'], results: [source] }
const citation = { type: 'url_citation', start_index: 10, end_index: 13, url: source.url, title: 'Cats' }
const part = { type: 'output_text', text: 'Cats purr. [1]', annotations: [citation] }
const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look_up', arguments: '{"q":"cats"}' }
const usage = {
  ...{ input_tokens: 145, output_tokens: 92, total_tokens: 237 },
  input_tokens_details: { cache_creation: 0, cache_read: 45 },
  tool_calls_details: { web_search: { invocation: 1 } },
  cost: { currency: 'USD', input_cost: 0.00018, output_cost: 0.00338, total_cost: 0.00856 },
}
const document = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'perplexity/sonar', status: 'completed', error: null },
  ...{ output: [search, message], usage },
}
const place = { item_id: 'msg_1', output_index: 1, content_index: 0 }
const events: readonly WireObject[] = [
  { type: 'response.created', response: { ...document, status: 'in_progress', output: [], usage: null } },
  { type: 'response.in_progress', response: { ...document, status: 'in_progress', output: [], usage: null } },
  { type: 'response.reasoning.started', thought: 'Looking this up.' },
  { type: 'response.reasoning.search_queries', queries: ['cats'], thought: null },
  { type: 'response.reasoning.search_results', results: [source] },
  { type: 'response.reasoning.stopped' },
  { type: 'response.output_item.added', output_index: 1, item: { ...message, status: 'in_progress', content: [] } },
  { type: 'response.output_text.delta', ...place, delta: 'Cats ' },
  { type: 'response.output_text.delta', ...place, delta: 'purr. [1]' },
  { type: 'response.output_text.done', ...place, text: 'Cats purr. [1]' },
  { type: 'response.output_item.done', output_index: 1, item: message },
  { type: 'response.completed', response: document },
]
const framed = (list: readonly WireObject[], end = '\n') =>
  list
    .map(
      (event, at) => `event: ${event.type}${end}data: ${JSON.stringify({ ...event, sequence_number: at })}${end}${end}`,
    )
    .join('')

describe('chat by Perplexity', () => {
  let world: ChatWorld
  beforeAll(async () => {
    world = await openChatWorld({ policy: { retries: 1 } })
    world.routes.set('sonar', [routeTo('sonar')])
  })
  afterAll(() => world.close())
  const routeTo = (model: string): Route =>
    world.routeTo(world.first, { model, provider: 'perplexity', format: 'perplexity' })

  const body = { ...hello, model: 'sonar', stream_options: { include_usage: true } }
  const streamed = (answer: Answer) => {
    world.first.script(answer)
    return world.request({ body, stream: true, frames: false })
  }
  const counted = { inputTokens: 145, outputTokens: 92, cachedTokens: 45, reasoningTokens: 0, chargedUsd: '0.00856' }
  const found = { citations: [source.url], search_results: [source] }
  const cited = {
    type: 'url_citation',
    url_citation: { start_index: 10, end_index: 13, url: source.url, title: 'Cats' },
  }

  it('answers with text, citations and search results at the reported price', async () => {
    world.first.script(json(document))
    const { whole: answer } = await world.request({ body: { ...hello, model: 'sonar' } })
    expect(world.first.received[0]).toMatchObject({
      path: '/v1/responses',
      headers: { authorization: 'Bearer key-1', via: '1.1 troupe' },
    })
    expect(answer).toMatchObject({ usage: counted, costUsd: '0.00856', model: 'perplexity/sonar' })
    expect(answer?.completion).toMatchObject({
      ...{ id: 'resp_1', object: 'chat.completion', model: 'perplexity/sonar', ...found },
      choices: [
        { message: { role: 'assistant', content: 'Cats purr. [1]', annotations: [cited] }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 145, completion_tokens: 92, prompt_tokens_details: { cached_tokens: 45 } },
    })
  })

  it.each(['\n', '\r\n'])('streams text as it arrives, followed by citations and search results', async (end) => {
    const { chunks, summary } = await streamed(trickled(framed(events, end), 31, 1))
    const deltas = chunks.flatMap(({ choices }) => (Array.isArray(choices) ? choices : [])).map(({ delta }) => delta)
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Looking this up.\n' },
      { content: 'Cats ' },
      { content: 'purr. [1]' },
      { annotations: [cited] },
      {},
    ])
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }], ...found })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 237 } })
    expect(summary).toMatchObject({ usage: counted, costUsd: '0.00856', finishReason: 'stop' })
  })

  it('reads text and calls that only the last events contain', async () => {
    const { chunks } = await streamed(whole(framed([{ type: 'response.completed', response: document }])))
    expect(JSON.stringify(chunks)).toContain('Cats purr. [1]')
    const items = [{ type: 'response.output_item.done', item: call }]
    const empty = { ...document, output: [] }
    const calls = await streamed(whole(framed([...items, { type: 'response.completed', response: empty }])))
    expect(calls.chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
    expect(JSON.stringify(calls.chunks)).toContain('"id":"call_1"')
  })

  it('has complete tool calls in one chunk', async () => {
    const response = { ...document, status: 'requires_action', output: [call, { ...call, call_id: 'call_2' }] }
    const { chunks, summary } = await streamed(whole(framed([{ type: 'response.completed', response }])))
    const called = { name: 'look_up', arguments: '{"q":"cats"}' }
    expect(chunks[1]).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              { index: 0, id: 'call_1', type: 'function', function: called },
              { index: 1, id: 'call_2', type: 'function', function: called },
            ],
          },
        },
      ],
    })
    expect(summary?.finishReason).toBe('tool_calls')
  })

  it.each([
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
  ])('has the finish reason for %j', async (fields, reason) => {
    const response = { ...document, ...fields }
    const { summary } = await streamed(whole(framed([{ type: 'response.incomplete', response }])))
    expect(summary?.finishReason).toBe(reason)
  })

  it.each([
    ['is cut', cut(framed(events.slice(0, 8))), 'provider_stream_broken'],
    ['ends early', whole(framed(events.slice(0, 9))), 'provider_stream_broken'],
    ['is malformed', whole('data: {"type":\n\n'), 'provider_stream_broken'],
    ['fails', whole(framed([{ type: 'response.failed', error: { type: 'overloaded' } }])), 'provider_unavailable'],
    ['is an error', whole(framed([{ type: 'error', error: { code: 'rate_limit' } }])), 'provider_rate_limited'],
    ['is refused for a rate', refusal(429, { message: 'slow' }, { 'retry-after': '3600' }), 'provider_rate_limited'],
    ['is an error of the server', refusal(500, { message: 'oh' }), 'provider_error'],
    ['is something else', json({ ok: true }), 'provider_error'],
  ])('fails when the stream %s', async (_, answer, code) => {
    expect(await streamed(answer)).toMatchObject({ summary: null, error: { code } })
  })

  it('streams an answer that arrives as one document', async () => {
    const { chunks } = await streamed(json(document))
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }], ...found })
  })
})

describe('the request to Perplexity', () => {
  const sent = (model: string, body: WireObject) => {
    const route: Route = {
      ...{ model, provider: 'perplexity', format: 'perplexity', baseUrl: 'https://api.perplexity.ai/v1', apiKey: 'k' },
      ...{ source: 'byok', connectionId: null },
    }
    return JSON.parse(String(perplexityFormat().request(body, route, false).body))
  }

  it.each([
    ['sonar', { model: 'perplexity/sonar', preset: 'fast' }],
    ['sonar-pro', { model: 'perplexity/sonar', preset: 'fast' }],
    ['sonar-reasoning-pro', { model: 'perplexity/sonar', preset: 'low' }],
    ['sonar-deep-research', { model: 'perplexity/sonar', preset: 'high' }],
    ['openai/gpt-5.4', { model: 'openai/gpt-5.4' }],
  ])('has the current model for the name %s', (model, requested) => {
    const input = [{ type: 'message', role: 'user', content: 'Hello' }]
    expect(sent(model, hello)).toEqual({ ...requested, input, stream: false })
  })

  it('has the messages with images, calls and results, and no unsupported fields', () => {
    const called = { name: 'look_up', arguments: '{}' }
    const image = { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } }
    const body = {
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: [{ type: 'text', text: 'What?' }, image] },
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: called }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'A cat.' },
      ],
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
      ...{ max_tokens: 100, temperature: 0.2, top_p: null, reasoning_effort: 'low', seed: 7, n: 1, stream_options: {} },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    }
    expect(sent('sonar', body)).toEqual({
      ...{ model: 'perplexity/sonar', preset: 'fast', stream: false },
      input: [
        { type: 'message', role: 'system', content: 'Be short.' },
        {
          ...{ type: 'message', role: 'user' },
          content: [
            { type: 'input_text', text: 'What?' },
            { type: 'input_image', image_url: 'https://images.example/cat.png', detail: 'auto' },
          ],
        },
        { type: 'function_call', call_id: 'call_1', ...called },
        { type: 'function_call_output', call_id: 'call_1', output: 'A cat.' },
      ],
      tools: [
        { type: 'web_search' },
        { type: 'function', name: 'look_up', parameters: { type: 'object' }, strict: false },
      ],
      ...{ max_output_tokens: 100, temperature: 0.2, reasoning: { effort: 'low' } },
      response_format: body.response_format,
    })
  })

  it('has search filters as in chat completions', () => {
    const filters = { search_domain_filter: ['cats.example'], search_recency_filter: 'week' }
    const web_search_options = { user_location: { country: 'US' }, search_context_size: 'high' }
    expect(sent('sonar', { ...hello, ...filters, web_search_options }).tools).toEqual([
      { type: 'web_search', filters, user_location: { country: 'US' } },
    ])
  })
})
