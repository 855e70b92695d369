import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { cut, endless, hangUp, refusal, stalled, trickled, whole } from '../call/scripted-upstream.ts'
import {
  type ChatWorld,
  delta,
  framesOf,
  goodAnswer,
  goodStream,
  hello,
  json,
  openChatWorld,
  usageChunk,
} from './chat-world.ts'

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld()
})
afterEach(() => world.close())

const usage = { inputTokens: 12, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 }

const beginning = framesOf(delta({ role: 'assistant', content: 'Hel' }), delta({ content: 'lo' }))

describe('a request to an OpenAI-compatible provider', () => {
  it('has the bytes of the caller when nothing needs to change', async () => {
    world.first.script(json(goodAnswer))
    const text = '{ "model" : "model-1",  "messages":[{"role":"user","content":"h\\u0069"}], "x_own": {"a":[1]} }'
    await world.request({ text })
    expect(world.first.received).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { 'content-length': String(text.length), authorization: 'Bearer key-1' },
      },
    ])
    expect(world.first.received[0]?.body).toEqual(JSON.parse(text))
  })

  it('has the model name of the provider and none of our own fields', async () => {
    world.first.script(json(goodAnswer))
    world.routes.set('groq/model-1', [world.routeTo(world.first)])
    const body = { ...hello, model: 'groq/model-1', models: ['other'], memory: true, seed: 7 }
    await world.request({ text: JSON.stringify(body) })
    expect(world.first.received[0]?.body).toEqual({ ...hello, seed: 7, stream: false })
  })

  it('requests usage for a stream and otherwise keeps the body of the caller', async () => {
    world.first.script(whole(goodStream))
    const text = ' {"model":"model-1","messages":[{"role":"user","content":"}"}],"stream":true} \n'
    const { summary } = await world.request({ text, stream: true })
    expect(world.first.received[0]?.body).toEqual({ ...JSON.parse(text), stream_options: { include_usage: true } })
    expect(summary).toMatchObject({ usage, finishReason: 'stop', model: 'model-1-2026' })
  })
})

describe('an answer without streaming', () => {
  it('is returned as the received bytes, with usage, cost and headers', async () => {
    const text = JSON.stringify(goodAnswer).replaceAll(':', ' : ')
    world.first.script(json(text))
    const { whole: answer } = await world.request()
    expect(answer?.bytes?.toString()).toBe(text)
    expect(answer).toMatchObject({
      completion: goodAnswer,
      usage,
      headers: [
        ['x-provider', 'groq'],
        ['x-billing-mode', 'managed'],
        ['x-ratelimit-remaining-requests', '7'],
      ],
    })
    expect(world.settled).toEqual([answer?.costUsd])
    expect(world.recorded).toMatchObject([
      { status: 200, error: null, requestedModel: 'model-1', attempts: 1, streamed: false, units: { tokens: usage } },
    ])
    const bodies = world.recorded[0]?.bodies?.()
    expect(JSON.parse(String(bodies?.request ?? ''))).toEqual(hello)
    expect(JSON.parse(String(bodies?.response ?? ''))).toEqual(goodAnswer)
  })

  it('has estimated usage when the provider reports none', async () => {
    const { usage: _none, ...uncounted } = goodAnswer
    world.first.script(json(uncounted))
    const { whole: answer } = await world.request()
    expect(answer?.usage).toMatchObject({ estimated: true, outputTokens: 2 })
  })

  it.each([
    ['text that is not JSON', 'Bad gateway'],
    ['JSON that is not an answer', '{"ok":true}'],
    ['an answer cut short', JSON.stringify(goodAnswer).slice(0, 90)],
  ])('is refused when it is %s', async (_, text) => {
    world.first.script(json(text))
    const { error } = await world.request()
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(world.settled).toEqual(['0'])
    expect(world.recorded).toMatchObject([{ status: 502, error: 'provider_error', units: null, costUsd: '0' }])
  })

  it('is refused when the connection closes inside it', async () => {
    world.first.script((response) => {
      response.writeHead(200, { 'content-length': '500' })
      response.write('{"id":', () => setImmediate(() => response.destroy()))
    })
    expect(await world.request()).toMatchObject({ error: { code: 'provider_stream_broken' } })
  })
})

describe('a stream', () => {
  it('is passed through frame by frame, without usage unless the request set include_usage', async () => {
    world.first.script(whole(goodStream))
    const { frames, begun } = await world.request({ stream: true })
    expect(begun).toBe(true)
    expect(frames).toBe(goodStream.replace(framesOf(usageChunk), '').replace(framesOf('[DONE]'), ''))
  })

  it('has the usage chunk when the request set include_usage', async () => {
    world.first.script(whole(goodStream))
    const body = { ...hello, stream_options: { include_usage: true } }
    const { frames } = await world.request({ stream: true, body })
    expect(frames).toContain(framesOf(usageChunk))
  })

  it('is the same for any split into pieces, as frames and as chunks', async () => {
    world.first.script(trickled(goodStream, 61, 1))
    const asBytes = await world.request({ stream: true })
    world.first.script(trickled(goodStream, 53, 1))
    const asChunks = await world.request({ stream: true, frames: false })
    expect(framesOf(...asChunks.chunks)).toBe(asBytes.frames)
    expect(world.recorded).toMatchObject([{ units: { tokens: usage } }, { units: { tokens: usage } }])
  })

  it('is complete without [DONE] when it has a finish reason', async () => {
    world.first.script(whole(goodStream.replace(framesOf('[DONE]'), '')))
    expect(await world.request({ stream: true })).toMatchObject({ error: null, summary: { finishReason: 'stop' } })
  })

  it.each([
    ['is cut', cut(beginning), 'provider_stream_broken'],
    ['ends without saying why', whole(beginning), 'provider_stream_broken'],
    ['ends by [DONE] without saying why', whole(`${beginning}data: [DONE]\n\n`), 'provider_stream_broken'],
    ['has a malformed chunk', whole(`${beginning}data: {"choices": oops\n\n${goodStream}`), 'provider_stream_broken'],
    [
      'has a chunk that is cut off',
      whole(`${beginning}data: {"choices":[{"ind\n\n${goodStream}`),
      'provider_stream_broken',
    ],
    [
      'reports an error',
      whole(`${beginning}data: {"error":{"message":"no","code":"overloaded"}}\n\n`),
      'provider_unavailable',
    ],
  ] as const)(
    'that %s after its beginning fails, and is charged by the output that was passed on',
    async (_, answer, code) => {
      world.first.script(answer)
      const { error, frames, begun } = await world.request({ stream: true })
      expect(error).toMatchObject({ code })
      expect([begun, frames]).toEqual([true, beginning])
      expect(world.first.received).toHaveLength(1)
      expect(world.recorded).toMatchObject([
        { status: 200, error: code, units: { tokens: { outputTokens: 2, estimated: true } }, streamed: true },
      ])
    },
  )

  it('is refused when it ends before its first frame', async () => {
    world.first.script(whole(': thinking\n\n'))
    expect(await world.request({ stream: true })).toMatchObject({
      begun: false,
      error: { code: 'provider_stream_broken' },
    })
  })

  it('fails when the model falls silent', async () => {
    const short = await openChatWorld({ policy: { idleTimeoutMs: 60, firstByteTimeoutMs: 5_000 } })
    short.first.script(stalled(beginning))
    expect(await short.request({ stream: true })).toMatchObject({
      error: { code: 'provider_timeout' },
      frames: beginning,
    })
    await short.close()
  })
})

it.each([
  ['google', 'calls and results', (deep: string) => [{ args: { malformed_arguments: deep } }, { output: deep }]],
  ['anthropic', 'calls', (deep: string) => [{ input: { malformed_arguments: deep } }]],
] as const)('a conversation for %s in which %s nest 20,000 deep says them as text', async (format, _, said) => {
  world.routes.set('model-1', [world.routeTo(world.first, { provider: format, format })])
  world.first.script(refusal(400, {}))
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: deep } }
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: deep },
  ]
  await world.request({ body: { ...hello, messages } })
  const sent = JSON.stringify(world.first.received[0]?.body)
  for (const part of said(deep)) expect(sent).toContain(JSON.stringify(part).slice(1, -1))
})

it.each([false, true])(
  'an answer whose arguments nest 20,000 deep is one that broke off (as a stream: %s)',
  async (stream) => {
    world.routes.set('model-1', [world.routeTo(world.first, { provider: 'google', format: 'google' })])
    const args = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const parts = `[{"functionCall":{"name":"f","args":${args}}}]`
    const answer = `{"candidates":[{"content":{"parts":${parts}},"finishReason":"STOP"}]}`
    world.first.script((response) => response.end(stream ? `data: ${answer}\n\n` : answer))
    const { error } = await world.request({ stream, frames: false })
    expect(error?.code).toBe('provider_stream_broken')
    expect(world.first.received).toHaveLength(1)
  },
)

describe('an answer without an end and without silence', () => {
  const emptyDelta = framesOf(delta({ content: '' }))

  it.each([
    ['a comment after the other', endless(beginning, ': alive\n\n'), true],
    ['one empty delta after the other', endless(beginning, emptyDelta), true],
    ['only comments', endless('', ': alive\n\n'), true],
    ['a byte of a document after the other', endless('{"id":"', 'x', 'application/json'), false],
  ] as const)('is aborted at the total timeout: %s', async (_, answer, stream) => {
    const short = await openChatWorld({ policy: { totalTimeoutMs: 200 } })
    short.first.script(answer)
    const { error, frames } = await short.request({ stream })
    expect(error).toMatchObject({ code: 'provider_timeout' })
    await short.first.received[0]?.closed
    expect(short.first.received).toHaveLength(1)
    const tokens = { outputTokens: expect.any(Number), estimated: true }
    const begun = { status: 200, error: 'provider_timeout', units: { tokens } }
    const notBegun = { status: 504, error: 'provider_timeout', units: null }
    expect(short.recorded).toMatchObject([frames === '' ? notBegun : begun])
    await short.close()
  })

  it('uses up the time of its fallback models', async () => {
    const short = await openChatWorld({ policy: { totalTimeoutMs: 200 } })
    short.routes.set('model-1', [short.routeTo(short.first), short.routeTo(short.second)])
    for (const each of [short.first, short.second]) each.script(endless('', ': alive\n\n'))
    expect(await short.request({ stream: true })).toMatchObject({ begun: false, error: { code: 'provider_timeout' } })
    await Promise.all([...short.first.received, ...short.second.received].map(({ closed }) => closed))
    await short.close()
  })
})

describe('before the first byte', () => {
  it.each([
    ['a rate limit that says when', refusal(429, { message: 'slow' }, { 'retry-after': '0' })],
    ['an error of the server', refusal(500, { message: 'oops' })],
    ['an overload', refusal(503, { message: 'busy' })],
    ['a connection that is closed', hangUp],
  ])('%s is retried', async (_, trouble) => {
    world.first.script(trouble, trouble, json(goodAnswer))
    const { whole: answer } = await world.request()
    expect(answer?.completion).toEqual(goodAnswer)
    expect(world.recorded).toMatchObject([{ attempts: 3, status: 200 }])
    expect(world.admissions).toHaveLength(1)
  })

  it('a retry delay that is too long is passed on to the caller', async () => {
    world.first.script(refusal(429, { message: 'slow' }, { 'retry-after': '3600' }))
    const { error } = await world.request()
    expect(error).toMatchObject({ code: 'provider_rate_limited', details: { retryAfterS: 3600 } })
    expect(world.first.received).toHaveLength(1)
  })

  it.each([
    [
      'an invalid parameter',
      { message: 'Unknown value.', code: 'invalid_value', param: 'tools[0].type' },
      'bad_request',
    ],
    ['too long a conversation', { message: 'long', code: 'context_length_exceeded' }, 'context_length_exceeded'],
    ['what it will not answer', { message: 'no', code: 'content_policy_violation' }, 'content_policy_violation'],
  ] as const)('%s is refused with its own code and not retried', async (_, error, code) => {
    world.first.script(refusal(400, { ...error, message: `${error.message} key sk-secret-0123456789` }))
    const came = await world.request()
    expect(came.error?.code).toBe(code)
    expect(came.error?.details.param).toBe('param' in error ? error.param : undefined)
    expect(came.error?.message).not.toContain('sk-secret')
    expect(world.first.received).toHaveLength(1)
    expect(world.recorded).toMatchObject([{ status: 400, error: code, units: null }])
  })

  it('a silent provider causes a timeout', async () => {
    const short = await openChatWorld({ policy: { firstByteTimeoutMs: 60 } })
    short.first.script(() => {})
    expect(await short.request()).toMatchObject({ error: { code: 'provider_timeout' } })
    await short.first.received[0]?.closed
    await short.close()
  })

  it('a refusal of limits or budgets is returned without a request to a provider', async () => {
    world.world.admission = {
      admit: () => Promise.reject(new ServiceError('budget_exceeded')),
    }
    expect(await world.request()).toMatchObject({ error: { code: 'budget_exceeded' } })
    expect(world.first.received).toEqual([])
    expect(world.recorded).toMatchObject([{ status: 402, error: 'budget_exceeded', attempts: 0, costUsd: '0' }])
  })
})

describe('a caller that disconnects', () => {
  it.each([
    ['while nothing has come', false, () => {}],
    ['in the middle of a stream', true, stalled(framesOf(delta({ role: 'assistant', content: 'Hel' })))],
  ] as const)('%s causes the connection to the provider to close', async (_, stream, answer) => {
    world.first.script(answer)
    const run = world.request({ stream })
    await vi.waitFor(() => expect(world.first.received).toHaveLength(1), { timeout: 30_000 })
    if (stream) await run.begun
    run.cancel()
    // Nothing else closes it within the time of this test.
    await world.first.received[0]?.closed
    expect(world.recorded).toMatchObject([
      { status: 499, error: 'cancelled', units: stream ? { tokens: { outputTokens: 1 } } : null },
    ])
    expect(world.settled).toHaveLength(1)
  })

  it('between two attempts prevents the next one', async () => {
    const slow = await openChatWorld({ policy: { backoffMs: 60_000, maxBackoffMs: 60_000 } })
    slow.first.script(refusal(500, { message: 'oops' }))
    const run = slow.request()
    await vi.waitFor(() => expect(slow.first.received).toHaveLength(1), { timeout: 30_000 })
    await slow.first.received[0]?.closed
    run.cancel()
    expect(slow.recorded).toMatchObject([{ error: 'cancelled', attempts: 1 }])
    await slow.close()
  })
})
