import { describe, expect, it } from 'vitest'
import { MessageFrames } from '#gateway/apis/messages/message-frames.ts'
import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import { portableBody } from '#gateway/providers/portable-body.ts'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { decoded, requestOf, sse } from '#test/gateway/providers/format-harness.ts'
import { request, serving } from '../messages-world.ts'
import { calling, type Script, saying } from '../scripted-chat.ts'

const thought = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature })

describe('a message', () => {
  it('has one block of thinking whose pieces another gateway sends as blocks, the last of them signed', async () => {
    const { anthropic } = serving([
      {
        deltas: [
          ...['Hm', 'm.'].map((piece) => ({ reasoning_content: piece, thinking_blocks: [thought(piece, '')] })),
          { thinking_blocks: [thought('', 'sig')] },
          ...saying('Yes.'),
        ],
      },
    ])
    const { content } = await anthropic.messages.stream(request).finalMessage()
    expect(content).toMatchObject([thought('Hmm.', 'sig'), { type: 'text', text: 'Yes.' }])
  })

  const served = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
  it.each([
    ['writes text', { content: 'Wait.' }, { type: 'text', text: 'Wait.' }],
    ['thinks', { reasoning_content: 'Hm.' }, { type: 'thinking', thinking: 'Hm.' }],
    ['has a block of its own tools', { thinking_blocks: [served] }, served],
  ])('has the whole arguments of a call into which the model %s, which follows it', async (_, delta, block) => {
    const [begun, ...parts] = calling(0, 'call_1', 'look_up', '{"q":', '1}')
    const { anthropic } = serving([
      { deltas: [begun ?? {}, parts[0] ?? {}, delta, parts[1] ?? {}], finishReason: 'tool_calls' },
    ])
    const { content } = await anthropic.messages.stream(request).finalMessage()
    expect(content).toMatchObject([{ type: 'tool_use', id: 'call_1', input: { q: 1 } }, block])
  })

  it.each([
    ['no index', undefined, undefined],
    ['indexes that begin at one', 1, 2],
  ])('has each of several calls whose parts have %s, the first of them streamed', async (_, first, second) => {
    const part = (index: number | undefined, call: object) => ({
      tool_calls: [{ ...(index !== undefined && { index }), ...call }],
    })
    const begun = (index: number | undefined, id: string) =>
      part(index, { id, type: 'function', function: { name: 'look_up', arguments: '{"q":' } })
    const more = (index: number | undefined, text: string) => part(index, { function: { arguments: text } })
    const deltas = [begun(first, 'call_1'), more(first, '1}'), begun(second, 'call_2'), more(second, '2}')]
    const { anthropic } = serving([{ deltas, finishReason: 'tool_calls' }])
    const seen: (string | number)[] = []
    const stream = anthropic.messages.stream(request)
    stream.on('streamEvent', (event) => {
      if ('index' in event) seen.push(event.index)
    })
    expect((await stream.finalMessage()).content).toMatchObject([
      { type: 'tool_use', id: 'call_1', input: { q: 1 } },
      { type: 'tool_use', id: 'call_2', input: { q: 2 } },
    ])
    expect(seen).toEqual([0, 0, 0, 0, 1, 1, 1])
  })

  it('that the provider paused ends with pause_turn, whole and streamed, so that its client continues it', async () => {
    const paused = pausedAtAnthropic()
    for (const finish of [paused.whole, paused.streamed]) {
      const script: Script = { deltas: saying('Searching.'), finishReason: 'stop', choice: finish }
      const { anthropic } = serving([script], 'anthropic')
      expect(await anthropic.messages.create(request)).toMatchObject({ stop_reason: 'pause_turn' })
      expect(await anthropic.messages.stream(request).finalMessage()).toMatchObject({ stop_reason: 'pause_turn' })
    }
  })
})

/** The fields that an answer which Anthropic paused has in its choice, beside the message. */
const pausedAtAnthropic = (): { readonly whole: WireObject; readonly streamed: WireObject } => {
  const { answer, decoder } = requestOf('anthropic', 'claude-sonnet-4-5')
  const ending = { stop_reason: 'pause_turn', stop_sequence: null }
  const { completion } = answer({ content: [{ type: 'text', text: 'Searching.' }], ...ending, usage: {} })
  const { chunks } = decoded(decoder(), [
    sse({ type: 'message_start', message: {} }, { type: 'message_delta', delta: ending }, { type: 'message_stop' }),
  ])
  return { whole: endOf([completion]), streamed: endOf(chunks) }
}

const endOf = (documents: readonly WireObject[]): WireObject => {
  const choices = documents.flatMap(({ choices }) => arrayOf(choices).map(objectOf))
  const { message: _, delta: __, ...fields } = choices.find(({ finish_reason }) => finish_reason !== null) ?? {}
  return fields
}

describe('what only Anthropic can do', () => {
  const container = { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' }
  const context_management = { edits: [{ type: 'clear_tool_uses_20250919' }] }
  const both = { ...request, container: container.id, context_management }

  it('is passed on to Anthropic, and its container is in the message, whole and streamed', async () => {
    const message = {
      ...{ type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null, container },
      ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
    }
    const { completion } = requestOf('anthropic', 'claude-haiku-4-5').answer(message)
    const choice = objectOf(arrayOf(completion.choices)[0])
    expect(choice.container).toEqual(container)
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 }
    const summary: ChatSummary = Object({ model: 'm', finishReason: 'stop', usage, costUsd: null })
    const frames = new MessageFrames('req_1', [])
    frames.chunk({ model: 'm', choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop', container }] })
    frames.chunk({ model: 'm', choices: [], usage: {} })
    expect(frames.end(summary)).toContain('"container":{"id":"container_1"')
    const { send, chat } = serving([{ deltas: saying('Hi') }], 'anthropic')
    expect((await send('/v1/messages', both)).status).toBe(200)
    expect(chat.last.anthropic_request).toEqual({ container: container.id, context_management })
    const { body } = requestOf('anthropic', 'claude-haiku-4-5', chat.last)
    expect(JSON.parse(String(body))).toMatchObject({ container: container.id, context_management })
    expect(
      portableBody(chat.last, { format: 'openai', baseUrl: 'https://a.example' }).anthropic_request,
    ).toBeUndefined()
  })

  it('is refused or named where another provider cannot do it', async () => {
    const { send } = serving([{ deltas: saying('Hi') }])
    const refused = await send('/v1/messages', both)
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { message: 'The provider of this model has no containers.' } },
    })
    const { status, headers } = await send('/v1/messages', { ...request, context_management })
    expect([status, headers['x-ignored-tools']]).toEqual([200, 'context_management'])
  })
})
