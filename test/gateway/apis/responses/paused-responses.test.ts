import { expect, it } from 'vitest'
import { responsesWorld } from '../responses-world.ts'
import { saying } from '../scripted-chat.ts'

const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } }
const paused = {
  deltas: [...saying('Let me see. '), { thinking_blocks: [search] }],
  choice: { native_finish_reason: 'pause_turn' },
}

it.each([true, false])('an answer that its provider paused is continued (streamed: %s)', async (stream) => {
  const { openai, chat } = await responsesWorld([paused, { deltas: saying('It is blue.') }])
  const request = { model: 'model-1', input: 'Search.' }
  const response = stream
    ? await openai.responses.stream(request).finalResponse()
    : await openai.responses.create(request)
  expect(response).toMatchObject({ status: 'completed', usage: { input_tokens: 14, output_tokens: 10 } })
  const texts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  expect(texts).toMatchObject([{ text: 'Let me see. ' }, { text: 'It is blue.' }])
  expect(chat.received).toHaveLength(2)
  expect(chat.last.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: 'Let me see. ', thinking_blocks: [search] },
  ])
})

it('an answer that stays paused without getting on ends', async () => {
  const { openai, chat } = await responsesWorld([paused, { choice: paused.choice }])
  const { status } = await openai.responses.create({ model: 'model-1', input: 'Search.' })
  expect([status, chat.received.length]).toEqual(['completed', 2])
})
