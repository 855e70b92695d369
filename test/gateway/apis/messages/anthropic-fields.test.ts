import { describe, expect, it } from 'vitest'
import { portableBody } from '#gateway/providers/portable-body.ts'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { decoded, requestOf, sse } from '#test/gateway/providers/format-harness.ts'
import { request, serving } from '../messages-world.ts'
import { type Script, saying } from '../scripted-chat.ts'

const model = 'claude-haiku-4-5'
const sentToAnthropic = (body: WireObject): WireObject => {
  const parsed: unknown = JSON.parse(String(requestOf('anthropic', model, { messages: [], ...body }).body))
  return objectOf(parsed)
}
const hi = { role: 'user', content: 'hi' }

describe('a tool that is loaded when it is found', () => {
  const marks = { defer_loading: true, eager_input_streaming: true, input_examples: [{ q: 'a' }] }
  const tool = { name: 'look_up', input_schema: { type: 'object' } }
  const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search' }
  const reference = { type: 'tool_reference', tool_name: 'look_up' }
  const messages = [
    hi,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'find', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [reference] }] },
  ]
  const whole = { ...request, messages, tools: [search, { ...tool, ...marks }] }

  it('reaches Anthropic with its marks and the references to it, and others as a plain tool', async () => {
    const { send, chat } = serving([{ deltas: saying('Hi') }], 'anthropic')
    expect(await send('/v1/messages', whole)).toMatchObject({ status: 200 })
    const made = sentToAnthropic(chat.last)
    expect(made.tools).toEqual([search, { ...tool, ...marks }])
    expect(arrayOf(made.messages).at(-1)).toEqual(messages.at(-1))
    const fallback = portableBody(
      { ...chat.last, messages: arrayOf(chat.last.messages) },
      { format: 'openai', baseUrl: 'https://a.example' },
    )
    expect(fallback.tools).toEqual([
      { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } },
    ])
    expect(arrayOf(fallback.messages).at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'text', text: 'look_up' }],
    })
  })

  it('is a tool as any other for the models of other providers, which read its name', async () => {
    const { send, chat } = serving([{ deltas: saying('Hi') }])
    const { status, headers } = await send('/v1/messages', whole)
    expect([status, headers['x-ignored-tools']]).toEqual([200, search.type])
    expect(chat.last.tools).toEqual([
      { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } },
    ])
    expect(arrayOf(chat.last.messages).at(-1)).toEqual({ role: 'tool', tool_call_id: 'call_1', content: 'look_up' })
  })
})

describe('a summary that Anthropic puts in place of a long conversation', () => {
  const summary = { type: 'compaction', content: 'They greeted.', encrypted_content: 'e', signature: 's' }
  const iteration = { input_tokens: 180_000, output_tokens: 3_500 }
  const usage = {
    ...{ input_tokens: 23_000, output_tokens: 1_000 },
    iterations: [
      { type: 'compaction', ...iteration },
      { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
    ],
  }
  const answer = { content: [summary, { type: 'text', text: 'Hi.' }], stop_reason: 'end_turn', usage }
  const streamed = (stop_reason: string) =>
    decoded(requestOf('anthropic', model).decoder(), [
      sse(
        { type: 'message_start', message: { usage: { input_tokens: 23_000, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
        {
          ...{ type: 'content_block_delta', index: 0 },
          delta: { type: 'compaction_delta', content: summary.content, encrypted_content: 'e' },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Hi.' } },
        { type: 'content_block_stop', index: 1 },
        { type: 'message_delta', delta: { stop_reason }, usage },
        { type: 'message_stop' },
      ),
    ])
  const deltasOf = (chunks: readonly WireObject[]) =>
    chunks.flatMap(({ choices }) => arrayOf(choices).map((each) => objectOf(objectOf(each).delta)))

  it('is in the message, whole and streamed, and goes back to Anthropic in its place', async () => {
    const { completion } = requestOf('anthropic', model).answer(answer)
    const { message } = objectOf(arrayOf(completion.choices)[0])
    for (const deltas of [[objectOf(message)], deltasOf(streamed('end_turn').chunks)]) {
      const { anthropic, send, chat } = serving([{ deltas, finishReason: 'stop' }], 'anthropic')
      const whole = await anthropic.messages.create(request)
      expect(whole.content).toMatchObject([summary, { type: 'text', text: 'Hi.' }])
      const said = await anthropic.messages.stream(request).finalMessage()
      expect(said.content).toMatchObject([summary, { type: 'text', text: 'Hi.' }])
      const turns = [hi, { role: 'assistant', content: whole.content }, hi]
      expect(await send('/v1/messages', { ...request, messages: turns })).toMatchObject({ status: 200 })
      expect(arrayOf(sentToAnthropic(chat.last).messages)[1]).toMatchObject({
        content: [summary, { type: 'text', text: 'Hi.' }],
      })
    }
  })

  it('is charged, though its tokens are in no sum of the usage', () => {
    const all = { inputTokens: 203_000, outputTokens: 4_500 }
    expect(requestOf('anthropic', model).answer(answer).usage).toMatchObject(all)
    expect(streamed('end_turn').end.usage).toMatchObject(all)
  })

  it('ends an answer that is to be continued after it by the reason of Anthropic', async () => {
    const { chunks } = streamed('compaction')
    const choice = objectOf(arrayOf(chunks.findLast(({ choices }) => arrayOf(choices).length > 0)?.choices)[0])
    const { delta: _, ...ending } = choice
    const script: Script = { deltas: deltasOf(chunks), finishReason: 'stop', choice: ending }
    const { anthropic } = serving([script], 'anthropic')
    expect(await anthropic.messages.create(request)).toMatchObject({ stop_reason: 'compaction' })
    expect(await anthropic.messages.stream(request).finalMessage()).toMatchObject({ stop_reason: 'compaction' })
  })
})
