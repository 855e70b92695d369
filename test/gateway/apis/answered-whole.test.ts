import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aiChatUseCases } from '#gateway/apis/ai-chat/ai-chat-use-cases.ts'
import { messageUseCases } from '#gateway/apis/messages/message-use-cases.ts'
import { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { aiChat } from '#specs/resources/gateway/ai-chat.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { json } from '../chat/chat-world.ts'
import { openChatUpstream } from './chat-upstream.ts'
import { formServer, framesIn } from './form-server.ts'
import { keptThreads } from './kept-threads.ts'
import { noDocuments } from './no-documents.ts'
import { responsesWorld } from './responses-world.ts'
import { sdkFetch } from './sdk-fetch.ts'

/* An OpenAI-compatible server that ignores `stream` and always answers with one document. */

const called = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"cats"}' } }
const answered = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'model-1' },
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Cats purr.', tool_calls: [called] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
}
const parameters = { type: 'object', properties: {} }

describe('an answer without streaming to a streaming request', () => {
  let server: Awaited<ReturnType<typeof openChatUpstream>>
  beforeAll(async () => {
    server = await openChatUpstream()
  })
  afterAll(() => server.close())
  beforeEach(() => server.upstream.script(json(answered)))

  it('is streamed to the OpenAI SDK as a response', async () => {
    const { openai } = await responsesWorld([], { model: server.chats })
    const tools = [{ type: 'function' as const, name: 'look_up', parameters, strict: null }]
    const stream = openai.responses.stream({ model: 'model-1', input: 'Cats?', tools })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    expect(await stream.finalResponse()).toMatchObject({
      status: 'completed',
      output_text: 'Cats purr.',
      output: [
        { type: 'message' },
        { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"q":"cats"}' },
      ],
      usage: { input_tokens: 10, output_tokens: 4 },
    })
    expect(deltas.join('')).toBe('Cats purr.')
  })

  it('is streamed to the Anthropic SDK as a message', async () => {
    const send = formServer(messages, {
      ...messageUseCases({
        ...keptThreads(),
        ...{ chat: server.chats, routes: { resolve: () => [server.route] } },
        documents: noDocuments,
      }),
    })
    const baseURL = 'http://agents.example'
    const anthropic = new Anthropic({ apiKey: 'csk_x', baseURL, fetch: sdkFetch(send), maxRetries: 0 })
    const stream = anthropic.messages.stream({
      ...{ model: 'model-1', max_tokens: 100, messages: [{ role: 'user', content: 'Cats?' }] },
      tools: [{ name: 'look_up', input_schema: { type: 'object', properties: {} } }],
    })
    expect(await stream.finalMessage()).toMatchObject({
      content: [
        { type: 'text', text: 'Cats purr.' },
        { type: 'tool_use', id: 'call_1', name: 'look_up', input: { q: 'cats' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 4 },
    })
  })

  it('is streamed as deltas of /api/ai/chat', async () => {
    const send = formServer(aiChat, {
      ...aiChatUseCases({
        chat: server.chats,
        memory: new ChatMemory({ service: () => new ScriptedMemory(), now: () => 0 }),
      }),
    })
    const { text } = await send('/api/ai/chat', {
      ...{ model: 'model-1', messages: [{ role: 'user', content: 'Cats?' }], stream: true },
    })
    const frames = framesIn(text)
    expect(frames.map((frame) => frame.delta ?? '').join('')).toBe('Cats purr.')
    expect(frames.at(-2)).toMatchObject({ finish_reason: 'tool_calls', tool_calls: [called] })
    expect(frames.at(-1)).toBe('[DONE]')
  })
})
