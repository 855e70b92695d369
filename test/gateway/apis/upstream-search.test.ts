import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, cut, hangUp, refusal, trickled, whole } from '../call/scripted-upstream.ts'
import { openChatUpstream } from './chat-upstream.ts'
import { responsesWorld } from './responses-world.ts'

/*
 * OpenAI's web search, with events as documented. The server calls it through the Responses API because chat
 * completions do not search.
 */

const search = (status: string) => ({
  type: 'web_search_call',
  id: 'ws_upstream',
  status,
  action: { type: 'search', query: 'cats', sources: [{ type: 'url', url: 'https://cats.example/' }] },
})
const citation = { type: 'url_citation', start_index: 0, end_index: 10, url: 'https://cats.example/', title: 'Cats' }
const part = { type: 'output_text', text: 'Cats purr.', annotations: [citation], logprobs: [] }
const message = { type: 'message', id: 'msg_upstream', role: 'assistant', status: 'completed', content: [part] }
const usage = {
  input_tokens: 300,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 320,
}
const document = {
  id: 'resp_upstream',
  object: 'response',
  created_at: 1_767_225_600,
  status: 'completed',
  model: 'gpt-5-2026',
  error: null,
  incomplete_details: null,
  output: [search('completed'), message],
  usage,
}
const place = { item_id: 'msg_upstream', output_index: 1, content_index: 0 }
const events = [
  { type: 'response.created', response: { ...document, status: 'in_progress', output: [] } },
  { type: 'response.in_progress', response: { ...document, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: search('in_progress') },
  { type: 'response.web_search_call.in_progress', output_index: 0, item_id: 'ws_upstream' },
  { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_upstream' },
  { type: 'response.web_search_call.completed', output_index: 0, item_id: 'ws_upstream' },
  { type: 'response.output_item.done', output_index: 0, item: search('completed') },
  { type: 'response.output_item.added', output_index: 1, item: { ...message, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...place, part: { ...part, text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...place, delta: 'Cats ', logprobs: [] },
  { type: 'response.output_text.delta', ...place, delta: 'purr.', logprobs: [] },
  { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation: citation },
  { type: 'response.output_text.done', ...place, text: 'Cats purr.', logprobs: [] },
  { type: 'response.content_part.done', ...place, part },
  { type: 'response.output_item.done', output_index: 1, item: message },
  { type: 'response.completed', response: document },
]
const framed = (list: readonly { readonly type: string }[]) =>
  list
    .map((event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`)
    .join('')

const request = {
  model: 'gpt-5',
  instructions: 'Be short.',
  input: 'Tell me of cats.',
  tools: [{ type: 'web_search_preview' as const, search_context_size: 'low' as const }],
}

let world: Awaited<ReturnType<typeof openChatUpstream>>
beforeAll(async () => {
  world = await openChatUpstream({ provider: 'openai', model: 'gpt-5' })
})
afterAll(() => world.close())

const serve = () => responsesWorld([], { model: world.chats, route: world.route })

const json =
  (body: object): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

const withCitations = (output: unknown) =>
  expect(output).toMatchObject([
    { type: 'web_search_call', id: expect.stringMatching(/^ws_/), status: 'completed', action: { query: 'cats' } },
    { type: 'message', id: expect.stringMatching(/^msg_/), content: [{ text: 'Cats purr.', annotations: [citation] }] },
  ])

const onePixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe('a web search that OpenAI runs', () => {
  it('is requested through the Responses API with store: false', async () => {
    const { openai } = await serve()
    world.upstream.script(json(document))
    await openai.responses.create({ ...request, max_output_tokens: 99, reasoning: { effort: 'low' } })
    const [requested] = world.upstream.received
    expect(requested?.path).toBe('/v1/responses')
    expect(requested?.headers.authorization).toBe('Bearer key-1')
    expect(requested?.body).toEqual({
      model: 'gpt-5',
      stream: false,
      store: false,
      input: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Tell me of cats.' },
      ],
      tools: request.tools,
      max_output_tokens: 99,
      reasoning: { effort: 'low' },
      include: ['web_search_call.action.sources'],
    })
  })

  it('is returned with citations and ids of this server', async () => {
    const { openai } = await serve()
    world.upstream.script(json(document))
    const response = await openai.responses.create(request)
    withCitations(response.output)
    expect(response).toMatchObject({ status: 'completed', model: 'gpt-5-2026', store: true })
    expect(response.id).not.toBe('resp_upstream')
    expect(response.usage).toMatchObject({ input_tokens: 300, output_tokens: 20, total_tokens: 320 })
    expect(await openai.responses.retrieve(response.id)).toEqual(response)
  })

  it('streams the events of OpenAI', async () => {
    const { openai } = await serve()
    world.upstream.script(whole(framed(events)))
    const types: string[] = []
    const stream = openai.responses.stream(request)
    for await (const { type } of stream) types.push(type)
    withCitations((await stream.finalResponse()).output)
    expect(types).toEqual(events.map(({ type }) => type))
  })

  it('is charged by its tokens', async () => {
    const { openai } = await serve()
    world.recorded.length = 0
    world.upstream.script(whole(framed(events)))
    await openai.responses.stream(request).finalResponse()
    expect(world.recorded).toMatchObject([
      {
        operation: 'responses.create',
        status: 200,
        streamed: true,
        units: { tokens: { inputTokens: 300, cachedTokens: 100 } },
      },
    ])
  })

  it('works with functions, whose outputs are sent in the format of the Responses API', async () => {
    const { openai } = await serve()
    const call = { type: 'function_call', id: 'fc_upstream', call_id: 'call_1', name: 'look_up', arguments: '{"q":1}' }
    world.upstream.script(json({ ...document, output: [call] }), json(document))
    const tools = [...request.tools, { type: 'function' as const, name: 'look_up', parameters: {}, strict: true }]
    const first = await openai.responses.create({ ...request, tools })
    expect(first.output).toMatchObject([{ type: 'function_call', call_id: 'call_1', arguments: '{"q":1}' }])
    const image = { type: 'input_image' as const, image_url: onePixel, detail: 'low' as const }
    await openai.responses.create({
      ...request,
      tools,
      tool_choice: { type: 'web_search_preview' },
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
      previous_response_id: first.id,
      input: [
        { type: 'function_call_output', call_id: 'call_1', output: 'found' },
        { role: 'user', content: [{ type: 'input_text', text: 'And this?' }, image] },
      ],
    })
    expect(world.upstream.received[1]?.body).toMatchObject({
      input: [
        { role: 'system' },
        { role: 'user', content: 'Tell me of cats.' },
        { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"q":1}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'found' },
        { role: 'user', content: [{ type: 'input_text', text: 'And this?' }, image] },
      ],
      tools: [{ type: 'function', name: 'look_up', strict: true }, request.tools[0]],
      tool_choice: { type: 'web_search_preview' },
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
    })
  })

  it('fails when the stream breaks or reports a failure', async () => {
    const { openai } = await serve()
    world.upstream.script(cut(framed(events.slice(0, 11))))
    await expect(openai.responses.stream(request).finalResponse()).rejects.toThrow('ended its stream early')
    const failed = { type: 'response.failed', response: { error: { code: 'server_error' } } }
    world.upstream.script(whole(framed([...events.slice(0, 11), failed])))
    await expect(openai.responses.stream(request).finalResponse()).rejects.toThrow('server_error')
  })

  it('is refused with the reason of the provider', async () => {
    const { openai } = await serve()
    world.upstream.script(refusal(400, { message: 'Unknown tool.', code: 'invalid_value', param: 'tools' }))
    await expect(openai.responses.create(request)).rejects.toMatchObject({
      status: 400,
      code: 'bad_request',
      param: 'tools',
    })
  })

  it.each([
    [refusal(429, { message: 'slow down' }, { 'retry-after': '7' }), 429, 'provider_rate_limited'],
    [refusal(500, { message: 'oops' }), 502, 'provider_error'],
    [refusal(401, { message: 'bad key' }), 502, 'provider_error'],
    [hangUp, 503, 'provider_unavailable'],
    [json({ object: 'something else' }), 502, 'provider_error'],
    [json({ ...document, error: { code: 'server_error', message: 'no' } }), 502, 'provider_error'],
  ] as const)('reports an upstream failure with its code (%#)', async (answer, status, code) => {
    const { openai } = await serve()
    world.upstream.script(answer)
    await expect(openai.responses.create(request)).rejects.toMatchObject({ status, code })
  })

  it.each([
    ['no JSON', 'data: {"type":\n\n'],
    ['nothing', ''],
    ['no end', framed(events.slice(0, -1))],
  ])('fails when the stream has %s', async (_, text) => {
    const { openai } = await serve()
    world.upstream.script(whole(text))
    await expect(openai.responses.stream(request).finalResponse()).rejects.toThrow()
  })

  it('is assembled from small pieces', async () => {
    const { openai } = await serve()
    world.upstream.script(trickled(framed(events), 40, 1))
    withCitations((await openai.responses.stream(request).finalResponse()).output)
  })

  it('is refused for other providers and for keys of customers', async () => {
    const { openai } = await responsesWorld([], { model: world.chats, route: { ...world.route, provider: 'groq' } })
    const forced = { ...request, tool_choice: { type: 'web_search_preview' as const } }
    await expect(openai.responses.create(forced)).rejects.toMatchObject({ status: 400, param: 'tools' })
    const byok = { ...world.route, source: 'byok' as const }
    const own = await responsesWorld([], { model: world.chats, route: byok })
    await expect(own.openai.responses.create(forced)).rejects.toMatchObject({ status: 400, param: 'tools' })
  })
})
