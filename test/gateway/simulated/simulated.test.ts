import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ModelMessage, ModelTool } from '#gateway/call/provider-port.ts'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'
import { openTurnWorld, type TurnWorld, whose } from '../turns/turn-world.ts'

const weather: ModelTool = {
  name: 'get_weather',
  description: 'Weather',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      days: { type: 'integer', minimum: 1, maximum: 5 },
    },
    required: ['city', 'unit'],
  },
}
const mail: ModelTool = {
  name: 'send_email',
  description: 'Mail',
  parameters: {
    type: 'object',
    properties: { to: { type: 'string', format: 'email' }, subject: { type: 'string' }, urgent: { type: 'boolean' } },
    required: ['to', 'subject'],
  },
}

describe('the simulated provider', () => {
  let simulated: SimulatedProvider
  let world: TurnWorld

  beforeAll(async () => {
    simulated = await startSimulatedProvider({ chunkDelayMs: 1 })
    world = await openTurnWorld({ policy: { backoffMs: 1, maxRetryAfterMs: 0 } })
    world.serve('openai', 'simulated-1', { url: simulated.url.replace(/\/v1$/, '') })
  })
  afterAll(async () => {
    await world.close()
    await simulated.close()
  })

  const sendRequest = async (
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[] = [],
    maxTokens?: number,
  ) => {
    return world.stream({
      ...{ model: 'simulated-1', messages, tools, idempotencyKey: 'k' },
      ...(maxTokens ? { maxTokens } : {}),
    })
  }
  const say = (content: string, tools: readonly ModelTool[] = []) => sendRequest([{ role: 'user', content }], tools)

  it('echoes the last user message word by word and counts tokens', async () => {
    const { answer, deltas } = await say('Good morning to you')
    expect(answer.text).toBe('You said: Good morning to you')
    expect(deltas).toEqual(['You ', 'said: ', 'Good ', 'morning ', 'to ', 'you'])
    expect(answer.usage.inputTokens).toBeGreaterThan(10)
    expect(answer.usage.outputTokens).toBe(8)
    expect(answer.usage.estimated).toBeUndefined()
  })

  it('calls a named tool with arguments from the text', async () => {
    const { answer } = await say('Use get_weather for Paris in fahrenheit for 9 days', [weather, mail])
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls.map(({ name }) => name)).toEqual(['get_weather'])
    expect(JSON.parse(answer.toolCalls[0]?.arguments ?? '')).toEqual({ city: 'Paris', unit: 'fahrenheit', days: 5 })
  })

  it('calls several named tools in the order of the text', async () => {
    const { answer } = await say('send email to ann@example.org, subject: "Hello there", then get weather in Rome', [
      weather,
      mail,
    ])
    expect(answer.toolCalls.map(({ name }) => name)).toEqual(['send_email', 'get_weather'])
    expect(JSON.parse(answer.toolCalls[0]?.arguments ?? '')).toEqual({ to: 'ann@example.org', subject: 'Hello there' })
    expect(new Set(answer.toolCalls.map(({ callId }) => callId)).size).toBe(2)
  })

  it('calls one tool when the text requests a tool without a name', async () => {
    expect((await say('Please use your tool', [weather, mail])).answer.toolCalls).toHaveLength(1)
  })

  it('calls no tool when none is requested or offered', async () => {
    expect((await say('How are you?', [weather])).answer.toolCalls).toEqual([])
    expect((await say('Use get_weather')).answer.toolCalls).toEqual([])
  })

  it('quotes tool results', async () => {
    const { answer } = await say('Use get_weather for Paris', [weather])
    const [call] = answer.toolCalls
    const result: ModelMessage = { role: 'tool', callId: call?.callId ?? '', name: 'get_weather', content: '{"c":21}' }
    const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: answer.toolCalls }
    const next = await sendRequest(
      [{ role: 'user', content: 'Use get_weather for Paris' }, assistant, result],
      [weather],
    )
    expect(next.answer.text).toBe('The tool get_weather answered: {"c":21}')
    expect(next.answer.finishReason).toBe('stop')
  })

  it('stops at the token limit', async () => {
    const { answer } = await sendRequest([{ role: 'user', content: 'one two three four five six' }], [], 3)
    expect(answer.finishReason).toBe('length')
    expect(answer.text).toHaveLength(12)
  })

  it.each([
    ['fail please', 'provider_error'],
    ['rate limit please', 'provider_rate_limited'],
    ['cut please, if you can', 'provider_stream_broken'],
    ['malformed please, if you can', 'provider_stream_broken'],
  ])('fails when the text requests it: %s', async (text, code) => {
    await expect(say(text)).rejects.toMatchObject({ code })
  })

  it('answers slowly when the text requests it, and detects that its reader left', async () => {
    const aborter = new AbortController()
    const messages: ModelMessage[] = [{ role: 'user', content: 'slow please' }]
    const { aborted } = simulated.stats()
    const started = performance.now()
    const request = { model: 'simulated-1', messages, tools: [], idempotencyKey: 'k' }
    let deltas = 0
    const onDelta = (): void => {
      if (++deltas === 3) aborter.abort()
    }
    const running = world.turns.call(request, whose, { onDelta, signal: aborter.signal })
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    expect(performance.now() - started).toBeGreaterThan(350)
    await vi.waitFor(() => expect(simulated.stats()).toMatchObject({ active: 0, aborted: aborted + 1 }), {
      timeout: 30_000,
    })
  })

  it('works with the official SDK, with and without streaming', async () => {
    const sdk = new OpenAI({ baseURL: simulated.url, apiKey: 'none' })
    const messages = [{ role: 'user', content: 'hi' }] as const
    const whole = await sdk.chat.completions.create({ model: 'simulated-1', messages: [...messages] })
    expect(whole.choices[0]?.message.content).toBe('You said: hi')
    const stream = sdk.chat.completions.stream({ model: 'simulated-1', messages: [...messages] })
    expect(await stream.finalContent()).toBe('You said: hi')
    expect((await sdk.models.list()).data.map(({ id }) => id)).toEqual(['simulated-1'])
    await expect(sdk.chat.completions.create({ model: 'gpt-4o', messages: [...messages] })).rejects.toMatchObject({
      status: 404,
    })
  })

  it('embeds deterministically in unit vectors that are closer for texts with common words', async () => {
    const input = ['the quick brown fox', 'a quick brown dog', 'quarterly tax report', 'the quick brown fox']
    const sdk = new OpenAI({ baseURL: simulated.url, apiKey: 'none' })
    const { data } = await sdk.embeddings.create({ model: 'simulated-1', input, encoding_format: 'float' })
    const vectors = data.map(({ embedding }) => embedding)
    const dot = (a: number, b: number): number =>
      (vectors[a] ?? []).reduce((sum, value, place) => sum + value * (vectors[b]?.[place] ?? 0), 0)
    expect(vectors.map((vector) => vector.length)).toEqual([256, 256, 256, 256])
    expect(dot(0, 0)).toBeCloseTo(1, 6)
    expect(vectors[3]).toEqual(vectors[0])
    expect(dot(0, 1)).toBeGreaterThan(dot(0, 2) + 0.2)
  })

  it('returns base64 vectors when requested, as the SDK does by default', async () => {
    const sdk = new OpenAI({ baseURL: simulated.url, apiKey: 'none' })
    const { data } = await sdk.embeddings.create({ model: 'simulated-1', input: 'hello' })
    expect(Math.hypot(...(data[0]?.embedding ?? []))).toBeCloseTo(1, 5)
  })
})
