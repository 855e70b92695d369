import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

const result = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'secret' }],
}
const events: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
  {
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude-haiku-4-5', usage: { input_tokens: 3, output_tokens: 0 } },
  },
  {
    ...{ type: 'content_block_start', index: 0 },
    content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"troupe"}' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: result },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Found it.' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} },
  },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"command":"ls"}' } },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]
const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

describe('Anthropic’s own tools', () => {
  let upstream: Upstream
  let world: World
  let sdk: Anthropic
  beforeAll(async () => {
    upstream = await openUpstream()
    const env = { ANTHROPIC_API_KEY: 'key-1', ANTHROPIC_BASE_URL: upstream.url, SIMULATED_PROVIDER: 'on' }
    world = await World.start({ env })
    sdk = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const tools: Anthropic.ToolUnion[] = [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    { type: 'bash_20250124', name: 'bash' },
    { name: 'look_up', input_schema: { type: 'object' } },
  ]
  const model = 'claude-haiku-4-5'
  const question = { role: 'user' as const, content: 'Search.' }
  const blocks = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'troupe' } },
    result,
    { type: 'text', text: 'Found it.' },
    { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } },
  ]

  it('reach Anthropic unchanged, and their results are streamed and accepted in a later turn', async () => {
    upstream.script(whole(stream))
    const streaming = sdk.messages.stream({ model, max_tokens: 100, tools, messages: [question] })
    const message = await streaming.finalMessage()
    expect(message).toMatchObject({ content: blocks, stop_reason: 'tool_use' })
    expect(upstream.received[0]?.body).toMatchObject({ tools: [tools[0], tools[1], { name: 'look_up' }] })
    const answered = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'a.txt' }
    const messages = [
      question,
      { role: 'assistant' as const, content: message.content },
      { role: 'user' as const, content: [answered] },
    ]
    upstream.script(whole(stream))
    await sdk.messages.stream({ model, max_tokens: 100, tools, messages }).finalMessage()
    const sent = upstream.received[0]?.body.messages
    expect(sent).toMatchObject([{ role: 'user' }, { role: 'assistant', content: blocks }, { role: 'user' }])
  })

  it('cites a document whose personal data the provider did not get, in every API that streams the answer', async () => {
    const cited = { type: 'char_location', cited_text: 'Ask [EMAIL_1].', document_index: 0, document_title: 'Lawn' }
    const citation = { ...cited, start_char_index: 0, end_char_index: 14, file_id: null }
    const at = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
    const open = (index: number) => ({
      ...{ type: 'content_block_start', index },
      content_block: { type: 'text', text: '', citations: [] },
    })
    const answer = [
      ...events.slice(0, 1),
      ...[open(0), at(0, { type: 'text_delta', text: 'For [EMA' }), at(0, { type: 'text_delta', text: 'IL_1]: ' })],
      ...[{ type: 'content_block_stop', index: 0 }, open(1), at(1, { type: 'text_delta', text: 'ask [EMAIL_1]' })],
      ...[at(1, { type: 'citations_delta', citation }), { type: 'content_block_stop', index: 1 }],
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    upstream.script(whole(answer.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')))
    const source = { type: 'text' as const, media_type: 'text/plain' as const, data: 'Ask ada@example.com.' }
    const document = { type: 'document' as const, title: 'Lawn', citations: { enabled: true }, source }
    const messages = [{ role: 'user' as const, content: [document] }]
    const message = await sdk.messages.stream({ model, max_tokens: 100, messages }).finalMessage()
    const own = { ...citation, cited_text: 'Ask ada@example.com.' }
    expect(message.content).toMatchObject([
      { type: 'text', text: 'For ada@example.com: ' },
      { type: 'text', text: 'ask ada@example.com', citations: [own] },
    ])
    expect(upstream.received[0]?.body.messages).toEqual([
      { role: 'user', content: [{ ...document, source: { ...source, data: 'Ask [EMAIL_1].' } }] },
    ])
    const openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const question = 'Who is ada@example.com?'
    const completion = openai.chat.completions.stream({ model, messages: [{ role: 'user', content: question }] })
    const lists: unknown[] = []
    for await (const { choices } of completion) {
      const [{ delta } = { delta: {} }] = choices
      if ('citations' in delta && Array.isArray(delta.citations)) lists.push(...delta.citations)
    }
    expect(lists).toEqual([{ ...own, start_index: 21, end_index: 40 }])
    const { output } = await openai.responses.stream({ model, input: question }).finalResponse()
    const annotations = [{ type: 'file_citation', filename: 'Lawn', start_index: 21, end_index: 40 }]
    expect(output).toMatchObject([{ content: [{ text: 'For ada@example.com: ask ada@example.com', annotations }] }])
  })

  it('are left out for a model of another provider and listed in X-Ignored-Tools', async () => {
    const pending = sdk.messages.create({ model: 'simulated-1', max_tokens: 100, tools, messages: [question] })
    const { response } = await pending.withResponse()
    expect(response.headers.get('x-ignored-tools')).toBe('web_search_20250305, bash_20250124')
    const forced = { ...{ model: 'simulated-1', max_tokens: 100, tools, messages: [question] } }
    const tool_choice = { type: 'tool' as const, name: 'bash' }
    await expect(sdk.messages.create({ ...forced, tool_choice })).rejects.toMatchObject({
      status: 400,
      error: { error: { param: 'tool_choice' } },
    })
  })
})
