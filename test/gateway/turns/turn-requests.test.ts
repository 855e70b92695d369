import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import { whole } from '../call/scripted-upstream.ts'
import { anthropic, google, openAi, type WireSample } from '../call/wire-samples.ts'
import { openTurnWorld, type TurnWorld } from './turn-world.ts'

const tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const history: readonly ModelMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Weather in Köln and Bonn?' },
  {
    role: 'assistant',
    content: 'Let me see.',
    toolCalls: [
      { callId: 'c1', name: 'get_weather', arguments: '{"city":"Köln"}' },
      { callId: 'c2', name: 'get_weather', arguments: '{"city":' },
    ],
  },
  { role: 'tool', callId: 'c1', name: 'get_weather', content: '{"sky":"grey"}' },
  { role: 'tool', callId: 'c2', name: 'get_weather', content: 'bad arguments' },
  { role: 'user', content: 'Well?' },
]
const requestOf = (model: string, messages = history): ModelRequest => ({
  model,
  messages,
  tools: [tool],
  temperature: 0.5,
  maxTokens: 99,
  idempotencyKey: 'k',
})

describe('the request of a turn to a provider', () => {
  let world: TurnWorld
  const sent = async (id: WireSample['id'], request: ModelRequest): Promise<Record<string, unknown>> => {
    world.serve(id, request.model)
    await world.stream(request)
    return world.first.received.at(-1)?.body ?? {}
  }

  beforeAll(async () => {
    world = await openTurnWorld()
  })
  afterAll(() => world.close())

  it('has history, tools and limits in the format of OpenAI', async () => {
    world.first.script(whole(openAi.text))
    const body = await sent('openai', requestOf('gpt-4o-mini'))
    expect(world.first.received[0]?.path).toBe('/v1/chat/completions')
    expect(body).toMatchObject({
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 99,
      tools: [{ type: 'function', function: tool }],
    })
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather in Köln and Bonn?' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
          { id: 'c2', type: 'function', function: { name: 'get_weather', arguments: '{"city":' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"sky":"grey"}' },
      { role: 'tool', tool_call_id: 'c2', content: 'bad arguments' },
      { role: 'user', content: 'Well?' },
    ])
  })

  it('has no temperature for a model that refuses it', async () => {
    world.first.script(whole(anthropic.text))
    expect(await sent('anthropic', requestOf('claude-opus-4-8'))).not.toHaveProperty('temperature')
  })

  it('is the same for the same messages', async () => {
    world.first.script(whole(openAi.text))
    const first = await sent('openai', requestOf('gpt-4o-mini'))
    expect(await sent('openai', requestOf('gpt-4o-mini'))).toEqual(first)
  })

  it('has history and tools in the format of Anthropic', async () => {
    world.first.script(whole(anthropic.text))
    const body = await sent('anthropic', requestOf('claude-haiku-4-5'))
    expect(body).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.' }],
      temperature: 0.5,
      max_tokens: 99,
      tools: [{ name: 'get_weather', description: 'Weather of a city', input_schema: tool.parameters }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather in Köln and Bonn?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Köln' } },
            { type: 'tool_use', id: 'c2', name: 'get_weather', input: { malformed_arguments: '{"city":' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '{"sky":"grey"}' }] },
            { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'bad arguments' }] },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    })
  })

  it('has the reasoning of Anthropic together with its tool calls', async () => {
    world.first.script(whole(anthropic.calls))
    world.serve('anthropic', 'claude-haiku-4-5')
    const { answer } = await world.stream(requestOf('claude-haiku-4-5'))
    const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: answer.toolCalls }
    const body = await sent('anthropic', requestOf('claude-haiku-4-5', [{ role: 'user', content: 'Hi' }, assistant]))
    expect(body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
            { type: 'tool_use', id: 'call_a' },
            { type: 'tool_use', id: 'call_b' },
          ],
        },
      ],
    })
  })

  it('has history and tools in the format of Google', async () => {
    world.first.script(whole(google.text))
    const body = await sent('google', requestOf('gemini-2.5-flash'))
    expect(world.first.received[0]?.path).toContain('/models/gemini-2.5-flash:streamGenerateContent')
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      generationConfig: { temperature: 0.5, maxOutputTokens: 99 },
      tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: tool.parameters }] }],
      contents: [
        { role: 'user', parts: [{ text: 'Weather in Köln and Bonn?' }] },
        {
          role: 'model',
          parts: [
            { text: 'Let me see.' },
            { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Köln' } } },
            { functionCall: { id: 'c2', name: 'get_weather', args: { malformed_arguments: '{"city":' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'get_weather', response: { sky: 'grey' } } },
            { functionResponse: { id: 'c2', name: 'get_weather', response: { output: 'bad arguments' } } },
            { text: 'Well?' },
          ],
        },
      ],
    })
  })

  it('has the signature of a Google call only for the model that created it', async () => {
    world.first.script(whole(google.calls))
    world.serve('google', 'gemini-3.5-flash')
    const { answer } = await world.stream(requestOf('gemini-3.5-flash'))
    const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: answer.toolCalls }
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hi' }, assistant]
    const own = await sent('google', requestOf('gemini-3.5-flash', messages))
    expect(own).toMatchObject({ contents: [{}, { parts: [{ thoughtSignature: 'c2ln' }, {}] }] })
    const other = await sent('google', requestOf('gemini-3.7-flash', messages))
    expect(other).toMatchObject({
      contents: [{}, { parts: [{ thoughtSignature: 'skip_thought_signature_validator' }, {}] }],
    })
  })
})
