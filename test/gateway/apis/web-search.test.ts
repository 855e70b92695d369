import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebResult, WebSearch } from '#gateway/apis/responses/searches/web-search.ts'
import { chatStream, openChatUpstream } from './chat-upstream.ts'
import { responsesWorld } from './responses-world.ts'
import { calling, saying } from './scripted-chat.ts'

const pages: Readonly<Record<string, readonly WebResult[]>> = {
  cats: [
    { title: 'Cats', url: 'https://cats.example/', snippet: 'Cats purr.' },
    { title: 'More cats', url: 'https://more.example/cats', snippet: 'Cats sleep.' },
  ],
  dogs: [{ title: 'Dogs', url: 'https://dogs.example/', snippet: 'Dogs bark.' }],
}

/** A search engine with fixed results. */
const engine = () => {
  const requests: { project: string; query: string; limit: number }[] = []
  const search: WebSearch = {
    search: async (project, query, { limit }) => {
      requests.push({ project, query, limit })
      const found = pages[query]
      if (found === undefined) throw new Error('the engine is down')
      return found
    },
  }
  return { requests, search }
}

const searching = (id: string, query: string, index = 0) =>
  calling(index, id, 'web_search', JSON.stringify({ query }).slice(0, 5), JSON.stringify({ query }).slice(5))

const request = {
  model: 'model-1',
  input: 'Tell me of cats.',
  tools: [{ type: 'web_search_preview' as const, search_context_size: 'low' as const }],
}

let world: Awaited<ReturnType<typeof openChatUpstream>>
beforeAll(async () => {
  world = await openChatUpstream()
})
afterAll(() => world.close())

const serve = async (search: WebSearch) => (await responsesWorld([], { search, model: world.chats })).openai

describe('a web search that the server runs', () => {
  it('streams its events, gives results to the model, and cites the sources that the answer names', async () => {
    const { requests, search } = engine()
    const openai = await serve(search)
    world.upstream.script(
      chatStream([...saying('Let me look.'), ...searching('call_1', 'cats')], 'tool_calls'),
      chatStream(saying('They purr [1', '] and sleep [2]. Not [9].'), 'stop'),
    )
    const types: string[] = []
    const stream = openai.responses.stream(request)
    for await (const { type } of stream) types.push(type)
    const response = await stream.finalResponse()
    expect(requests).toEqual([{ project: 'prj_1', query: 'cats', limit: 3 }])
    expect(types.filter((type) => /web_search|annotation|item/.test(type))).toEqual([
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_text.annotation.added',
      'response.output_text.annotation.added',
      'response.output_item.done',
    ])
    const [, searched, message] = response.output
    expect(searched).toMatchObject({
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'cats', sources: [{ url: 'https://cats.example/' }, {}] },
    })
    expect(message).toMatchObject({
      content: [
        {
          text: 'They purr [1] and sleep [2]. Not [9].',
          annotations: [
            { type: 'url_citation', start_index: 10, end_index: 13, url: 'https://cats.example/', title: 'Cats' },
            {
              type: 'url_citation',
              start_index: 24,
              end_index: 27,
              url: 'https://more.example/cats',
              title: 'More cats',
            },
          ],
        },
      ],
    })
    expect(response.usage).toMatchObject({ input_tokens: 20, output_tokens: 8, total_tokens: 28 })
    const [first, second] = world.upstream.received
    expect(first?.body).toMatchObject({ tools: [{ function: { name: 'web_search' } }] })
    expect(second?.body.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [{ id: 'call_1', function: { arguments: '{"query":"cats"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('Cats purr.') },
    ])
  })

  it('numbers sources across several searches, and is charged for each model call', async () => {
    const { search } = engine()
    const openai = await serve(search)
    world.recorded.length = 0
    world.upstream.script(
      chatStream([...searching('call_1', 'cats'), ...searching('call_2', 'dogs', 1)], 'tool_calls'),
      chatStream(saying('Bark [3].'), 'stop'),
    )
    const { output } = await openai.responses.stream(request).finalResponse()
    expect(output.at(-1)).toMatchObject({ content: [{ annotations: [{ url: 'https://dogs.example/' }] }] })
    expect(world.recorded).toHaveLength(2)
  })

  it('reports a failed search to the model, which continues', async () => {
    const { search } = engine()
    const openai = await serve(search)
    world.upstream.script(
      chatStream(searching('call_1', 'unknown'), 'tool_calls'),
      chatStream(saying('I could not look.'), 'stop'),
    )
    const { output, output_text } = await openai.responses.stream(request).finalResponse()
    expect(output[0]).toMatchObject({ type: 'web_search_call', status: 'failed' })
    expect(output_text).toBe('I could not look.')
    expect(world.upstream.received[1]?.body.messages).toMatchObject([{}, {}, { content: 'The search failed.' }])
  })

  it('is skipped when the answer also calls a function of the caller', async () => {
    const { requests, search } = engine()
    const openai = await serve(search)
    world.upstream.script(
      chatStream([...searching('call_1', 'cats'), ...calling(1, 'call_2', 'look_up', '{}')], 'tool_calls'),
    )
    const tools = [...request.tools, { type: 'function' as const, name: 'look_up', parameters: {}, strict: false }]
    const { output } = await openai.responses.stream({ ...request, tools }).finalResponse()
    expect(output).toMatchObject([{ type: 'function_call', call_id: 'call_2' }])
    expect(requests).toEqual([])
  })

  it('is forced only once, and runs at most max_tool_calls times', async () => {
    const { search } = engine()
    const openai = await serve(search)
    world.upstream.script(
      chatStream(searching('call_1', 'cats'), 'tool_calls'),
      chatStream(searching('call_2', 'dogs'), 'tool_calls'),
      chatStream(saying('Done.'), 'stop'),
    )
    const forced = { ...request, tool_choice: { type: 'web_search_preview' as const }, max_tool_calls: 2 }
    await openai.responses.stream(forced).finalResponse()
    expect(world.upstream.received.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'function', function: { name: 'web_search' } },
      undefined,
      'none',
    ])
  })

  it('can be continued without repeating the results', async () => {
    const { search } = engine()
    const openai = await serve(search)
    world.upstream.script(
      chatStream(searching('call_1', 'dogs'), 'tool_calls'),
      chatStream(saying('They bark.'), 'stop'),
      chatStream(saying('You are welcome.'), 'stop'),
    )
    const { id } = await openai.responses.stream(request).finalResponse()
    await openai.responses.stream({ ...request, input: 'Thanks.', previous_response_id: id }).finalResponse()
    expect(world.upstream.received[2]?.body.messages).toEqual([
      { role: 'user', content: 'Tell me of cats.' },
      { role: 'assistant', content: 'They bark.' },
      { role: 'user', content: 'Thanks.' },
    ])
  })
})
