import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AnthropicProvider } from '../../../src/actors/gateway/anthropic-provider.ts'
import { GoogleProvider } from '../../../src/actors/gateway/google-provider.ts'
import { OpenAiProvider } from '../../../src/actors/gateway/openai-provider.ts'
import type { ModelMessage, ModelProvider, ModelRequest } from '../../../src/actors/gateway/provider-port.ts'
import { openUpstream, type Upstream, whole } from './scripted-upstream.ts'
import { anthropic, google, openAi } from './wire-samples.ts'

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
const none = new AbortController().signal
const requestOf = (model: string, messages = history): ModelRequest => ({
  model,
  messages,
  tools: [tool],
  temperature: 0.5,
  maxTokens: 99,
  idempotencyKey: 'k',
})

describe('what providers are sent', () => {
  let upstream: Upstream
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(provider: T): T => {
    opened.push(provider)
    return provider
  }
  const sent = async (provider: ModelProvider, request: ModelRequest): Promise<Record<string, unknown>> => {
    await provider.stream(request, () => {}, none)
    return upstream.received.at(-1)?.body ?? {}
  }

  beforeAll(async () => {
    upstream = await openUpstream()
  })
  afterAll(async () => {
    await Promise.all(opened.map((provider) => provider.close()))
    await upstream.close()
  })

  const openAiProvider = (reasoning: boolean): OpenAiProvider =>
    kept(
      new OpenAiProvider({
        id: 'openai',
        baseUrl: `${upstream.url}/v1/`,
        apiKey: 'key-1',
        dialect: { maxTokensField: 'max_completion_tokens', acceptsTemperature: () => !reasoning },
      }),
    )

  it('keeps history, tools and limits in OpenAI form', async () => {
    upstream.script(whole(openAi.text))
    const body = await sent(openAiProvider(false), requestOf('gpt-4o-mini'))
    expect(upstream.received[0]?.path).toBe('/v1/chat/completions')
    expect(body).toMatchObject({
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_completion_tokens: 99,
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

  it('sends no temperature to a model that refuses it', async () => {
    upstream.script(whole(openAi.text))
    expect(await sent(openAiProvider(true), requestOf('o3'))).not.toHaveProperty('temperature')
  })

  it('sends a second request with the same messages byte for byte', async () => {
    upstream.script(whole(openAi.text))
    const provider = openAiProvider(false)
    const first = await sent(provider, requestOf('gpt-4o-mini'))
    expect(await sent(provider, requestOf('gpt-4o-mini'))).toEqual(first)
  })

  it('keeps history and tools in Anthropic form, without temperature', async () => {
    upstream.script(whole(anthropic.text))
    const provider = kept(new AnthropicProvider({ apiKey: 'key-1', baseUrl: upstream.url }))
    const body = await sent(provider, requestOf('claude-haiku-4-5'))
    expect(body).not.toHaveProperty('temperature')
    expect(body).toMatchObject({
      system: 'Be brief.',
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
            { type: 'tool_result', tool_use_id: 'c1', content: '{"sky":"grey"}' },
            { type: 'tool_result', tool_use_id: 'c2', content: 'bad arguments' },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    })
  })

  it('gives Anthropic its reasoning back with the call that came from it', async () => {
    upstream.script(whole(anthropic.calls))
    const provider = kept(new AnthropicProvider({ apiKey: 'key-1', baseUrl: upstream.url }))
    const answer = await provider.stream(requestOf('claude-haiku-4-5'), () => {}, none)
    const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: answer.toolCalls }
    const body = await sent(provider, requestOf('claude-haiku-4-5', [{ role: 'user', content: 'Hi' }, assistant]))
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

  it('keeps history and tools in Google form', async () => {
    upstream.script(whole(google.text))
    const provider = kept(new GoogleProvider({ apiKey: 'key-1', baseUrl: upstream.url }))
    const body = await sent(provider, requestOf('gemini-2.5-flash'))
    expect(upstream.received[0]?.path).toContain('/models/gemini-2.5-flash:streamGenerateContent')
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

  it('gives Google the signature of a call back, to the model that made it only', async () => {
    upstream.script(whole(google.calls))
    const provider = kept(new GoogleProvider({ apiKey: 'key-1', baseUrl: upstream.url }))
    const answer = await provider.stream(requestOf('gemini-3.5-flash'), () => {}, none)
    const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: answer.toolCalls }
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hi' }, assistant]
    const own = await sent(provider, requestOf('gemini-3.5-flash', messages))
    expect(own).toMatchObject({ contents: [{}, { parts: [{ thoughtSignature: 'c2ln' }, {}] }] })
    const other = await sent(provider, requestOf('gemini-3.7-flash', messages))
    expect(other).toMatchObject({
      contents: [{}, { parts: [{ thoughtSignature: 'skip_thought_signature_validator' }, {}] }],
    })
  })
})
