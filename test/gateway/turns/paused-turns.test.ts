import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { eventsOf } from '#gateway/providers/anthropic/anthropic-reader.ts'
import { BrokenAnswer } from '#gateway/turns/turn-models.ts'
import { arrayOf, type WireObject } from '#outgoing/wire.ts'
import { refusal, whole } from '../call/scripted-upstream.ts'
import { openTurnWorld, type TurnWorld } from './turn-world.ts'

const model = 'claude-haiku-4-5'
const request: ModelRequest = {
  model,
  messages: [{ role: 'user', content: 'Search.' }],
  tools: [{ name: 'note', description: '', parameters: { type: 'object' } }],
  idempotencyKey: 'k',
}

const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
const text = (words: string) => ({ type: 'text', text: words })

/** An answer that its provider streams: 10 tokens in, 5 out. */
const answered = (content: readonly WireObject[], stop_reason = 'end_turn') => {
  const message = {
    id: 'm',
    type: 'message',
    model,
    content,
    stop_reason,
    usage: { input_tokens: 10, output_tokens: 5 },
  }
  return whole(
    eventsOf(message)
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )
}

let world: TurnWorld
beforeAll(async () => {
  world = await openTurnWorld()
})
beforeEach(() => world.serve('anthropic', model))
afterAll(() => world.close())

const sentMessages = () => world.first.received.map(({ body }) => arrayOf(body.messages))

it('an answer that its provider pauses is continued with what was written, and is charged once for each call', async () => {
  const paused = [text('Let me see. '), search]
  const call = { type: 'tool_use', id: 'call_1', name: 'note', input: { a: 1 } }
  world.first.script(
    answered(paused, 'pause_turn'),
    answered([found, text('It is blue.')], 'pause_turn'),
    answered([text(' Noted.'), call], 'tool_use'),
  )
  const { answer, deltas } = await world.stream(request)
  expect(deltas.join('')).toBe('Let me see. It is blue. Noted.')
  expect(answer).toMatchObject({ text: 'Let me see. It is blue. Noted.', finishReason: 'tool_calls' })
  expect(answer.charge.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 })
  const user = { role: 'user', content: [text('Search.')] }
  expect(sentMessages()).toEqual([
    [user],
    [user, { role: 'assistant', content: [text('Let me see. '), search] }],
    [user, { role: 'assistant', content: [text('Let me see. '), search, found, text('It is blue.')] }],
  ])
  const [{ opaque = '' } = {}] = answer.toolCalls
  expect(JSON.parse(opaque.slice('anthropic:'.length))).toEqual([
    { ...search, start_index: 12 },
    { ...found, start_index: 12 },
  ])
})

it('an answer is continued eight times at most, and not when it came no further', async () => {
  world.first.script(answered([text('More.')], 'pause_turn'))
  expect((await world.stream(request)).answer).toMatchObject({ text: 'More.'.repeat(9), finishReason: 'stop' })
  expect(world.first.received).toHaveLength(9)
  world.first.script(answered([], 'pause_turn'))
  expect((await world.stream(request)).answer.text).toBe('')
  expect(world.first.received).toHaveLength(1)
})

it('the calls before one that fails are charged', async () => {
  world.first.script(
    answered([text('Wait. '), search], 'pause_turn'),
    refusal(400, { type: 'invalid_request_error', message: 'no' }),
  )
  const failure = await world.stream(request).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(BrokenAnswer)
  expect(failure).toMatchObject({ code: 'bad_request', charge: { usage: { inputTokens: 10, outputTokens: 5 } } })
})
