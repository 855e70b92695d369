import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type Answer, cut, hangUp, refusal, stalled, trickled, whole } from '../call/scripted-upstream.ts'
import { anthropic, google, openAi, type WireSample } from '../call/wire-samples.ts'
import { delta, framesOf } from '../chat/chat-world.ts'
import { openTurnWorld, type TurnWorld, whose } from './turn-world.ts'

const policy: Partial<CallPolicy> = { backoffMs: 5 }
/** The policy of turns that detect silence quickly; the other guarantees do not depend on these timeouts. */
const hasty: Partial<CallPolicy> = { ...policy, firstByteTimeoutMs: 250, idleTimeoutMs: 250 }

/** Turns whose model is served by the first server in this format. */
const openTurns = async (id: WireSample['id'], model: string, limits = policy): Promise<TurnWorld> => {
  const world = await openTurnWorld({ policy: limits })
  world.serve(id, model)
  return world
}

const keyOf = (headers: Readonly<Record<string, string | string[] | undefined>>): unknown =>
  headers['x-goog-api-key'] ?? headers['x-api-key'] ?? headers.authorization

describe.each([openAi, anthropic, google])('a turn in the format of $id', (sample) => {
  let world: TurnWorld
  let impatient: TurnWorld

  beforeAll(async () => {
    world = await openTurns(sample.id, sample.model)
    impatient = await openTurns(sample.id, sample.model, hasty)
  })
  afterAll(async () => {
    await world.close()
    await impatient.close()
  })

  const request: ModelRequest = {
    model: sample.model,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    idempotencyKey: 'ses_1:4:0',
  }
  const sendRequest = (signal?: AbortSignal, of = world) => of.stream(request, signal)
  const failure = async (signal?: AbortSignal, of = world): Promise<ServiceError> => {
    const error = await sendRequest(signal, of).catch((thrown: unknown) => thrown)
    if (!(error instanceof ServiceError)) throw new Error('no ServiceError', { cause: error })
    return error
  }

  it('streams text and has the token counts of the provider', async () => {
    world.first.script(whole(sample.text))
    const { answer, deltas } = await sendRequest()
    expect(deltas.join('')).toBe('Hello wörld 🌍')
    expect(answer.text).toBe('Hello wörld 🌍')
    expect(answer.finishReason).toBe('stop')
    expect(answer.usage).toEqual({ inputTokens: 20, outputTokens: 7, cachedTokens: 5, reasoningTokens: 2 })
    const { usage } = answer
    expect(answer.charge).toMatchObject({
      route: { provider: sample.id, model: sample.model, source: 'managed' },
      usage,
    })
    expect(JSON.stringify(answer)).not.toContain('apiKey')
  })

  it('sends the key and the idempotency key', async () => {
    world.first.script(whole(sample.text))
    await sendRequest()
    const headers = world.first.received[0]?.headers ?? {}
    expect(keyOf(headers)).toMatch(/^(Bearer )?key-1$/)
    expect(headers['idempotency-key']).toBe('ses_1:4:0')
  })

  it('has the same answer when every byte arrives separately', async () => {
    world.first.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const bytes = Buffer.from(sample.text)
      const step = (at: number): void => {
        if (at >= bytes.length) {
          response.end()
          return
        }
        response.write(bytes.subarray(at, at + 1))
        setImmediate(step, at + 1)
      }
      step(0)
    })
    const { answer, deltas } = await sendRequest()
    expect(deltas).toEqual(['Hello ', 'wörld 🌍'])
    expect(answer.usage.outputTokens).toBe(7)
  })

  it('has several tool calls with their arguments', async () => {
    world.first.script(whole(sample.calls))
    const { answer, deltas } = await sendRequest()
    expect(deltas).toEqual([])
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls.map(({ callId, name }) => [callId, name])).toEqual([
      ['call_a', 'get_weather'],
      ['call_b', 'get_time'],
    ])
    expect(answer.toolCalls.map((call) => JSON.parse(call.arguments))).toEqual([{ city: 'Köln' }, {}])
  })

  it('has the finish reason length when the answer was cut off', async () => {
    world.first.script(whole(sample.tooShort))
    expect((await sendRequest()).answer.finishReason).toBe('length')
  })

  it.each([
    ['is cut', cut(sample.beginning)],
    ['ends without saying why', whole(sample.beginning)],
    ['carries a malformed chunk', whole(sample.malformed)],
  ])('fails as broken without a retry when the stream %s', async (_, answer) => {
    world.first.script(answer)
    expect((await failure()).code).toBe('provider_stream_broken')
    expect(world.first.received).toHaveLength(1)
  })

  it('fails when the stream reports an error of the provider', async () => {
    world.first.script(whole(sample.error))
    expect((await failure()).code).toBe('provider_unavailable')
    expect(world.first.received).toHaveLength(1)
  })

  it('is retried after 5xx and after a lost connection, with the same idempotency key', async () => {
    world.first.script(refusal(500, { message: 'oops' }), hangUp, whole(sample.text))
    expect((await sendRequest()).answer.text).toBe('Hello wörld 🌍')
    expect(world.first.received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('ses_1:4:0'))
  })

  it('fails after two retries', async () => {
    world.first.script(refusal(503, { message: 'oops' }))
    expect((await failure()).code).toBe('provider_unavailable')
    expect(world.first.received).toHaveLength(3)
  })

  it('waits for the delay of Retry-After', async () => {
    world.first.script(refusal(429, sample.rateLimit, { 'retry-after': '1' }), whole(sample.text))
    const start = performance.now()
    await sendRequest()
    expect(performance.now() - start).toBeGreaterThanOrEqual(990)
  })

  it('fails with the Retry-After when that is too long to wait', async () => {
    world.first.script(refusal(429, sample.rateLimit, { 'retry-after': '30' }))
    const error = await failure()
    expect([error.code, error.details.retryAfterS]).toEqual(['provider_rate_limited', 30])
    expect(world.first.received).toHaveLength(1)
  })

  it.each([
    [401, { message: 'Incorrect key key-1' }, 'provider_error'],
    [404, { message: 'no such model' }, 'model_not_found'],
    [400, { message: 'bad schema' }, 'bad_request'],
    [400, sample.tooLong, 'context_length_exceeded'],
  ])('fails for status %i %j with its own code and without a retry', async (status, body, code) => {
    world.first.script(refusal(status, body))
    const error = await failure()
    expect(error.code).toBe(code)
    expect(error.message).not.toMatch(/key-1|127\.0\.0\.1/)
    expect(world.first.received).toHaveLength(1)
  })

  it.each([
    ['before the head', () => {}],
    ['after the head', stalled('')],
    ['after a beginning', stalled(sample.beginning)],
  ])('times out when the provider is silent %s', async (_, answer) => {
    impatient.first.script(answer)
    expect((await failure(undefined, impatient)).code).toBe('provider_timeout')
    await impatient.first.received[0]?.closed
  })

  it('waits for an answer that is slow but never silent for longer than the timeout', async () => {
    // In total longer than the longest silence. It is repeated when the machine paused, which is a silence, too.
    await vi.waitFor(
      async () => {
        impatient.first.script(trickled(sample.text, 6, 100))
        expect((await sendRequest(undefined, impatient)).answer.text).toBe('Hello wörld 🌍')
      },
      { timeout: 30_000 },
    )
  })

  it('closes the provider connection on an abort, and passes on nothing more', async () => {
    world.first.script(stalled(sample.beginning))
    const aborter = new AbortController()
    const deltas: string[] = []
    const running = world.turns.call(request, whose, {
      onDelta: (text) => {
        deltas.push(text)
        setImmediate(() => aborter.abort())
      },
      signal: aborter.signal,
    })
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    // Nothing else closes it within the time of this test.
    expect(world.first.received).toHaveLength(1)
    await world.first.received[0]?.closed
    expect(deltas).toEqual(['Hello '])
  })

  it('passes on nothing more when the receiver of a delta aborts it', async () => {
    world.first.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sample.beginning, () => response.end(sample.text))
    })
    const aborter = new AbortController()
    const deltas: string[] = []
    const onDelta = (text: string): void => {
      deltas.push(text)
      aborter.abort()
    }
    await expect(world.turns.call(request, whose, { onDelta, signal: aborter.signal })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(deltas).toHaveLength(1)
  })

  it('is cancelled at once while it waits for the next attempt', async () => {
    const waiting = await openTurns(sample.id, sample.model, { ...policy, maxRetryAfterMs: 3_600_000 })
    const upstream = waiting.first
    upstream.script(refusal(429, sample.rateLimit, { 'retry-after': '3600' }))
    const aborter = new AbortController()
    const running = failure(aborter.signal, waiting)
    await vi.waitFor(() => expect(upstream.received).toHaveLength(1), { timeout: 30_000 })
    await upstream.received[0]?.closed
    aborter.abort()
    expect((await running).code).toBe('cancelled')
    expect(upstream.received).toHaveLength(1)
    await waiting.close()
  })

  it('sends nothing when it was cancelled before its start', async () => {
    world.first.script(whole(sample.text))
    expect((await failure(AbortSignal.abort())).code).toBe('cancelled')
    expect(world.first.received).toHaveLength(0)
  })
})

describe('a provider-specific failure', () => {
  const failing = async (id: WireSample['id'], model: string, answer: Answer): Promise<[unknown, number]> => {
    const world = await openTurns(id, model)
    world.first.script(answer)
    const request: ModelRequest = { model, messages: [{ role: 'user', content: 'Hi' }], tools: [], idempotencyKey: 'k' }
    const error = await world.stream(request).catch((thrown: unknown) => thrown)
    const requestCount = world.first.received.length
    await world.close()
    return [error instanceof ServiceError ? error.code : error, requestCount]
  }

  it('of OpenAI for a used-up quota is not retried', async () => {
    const answer = refusal(429, { code: 'insufficient_quota', type: 'insufficient_quota', message: 'pay' })
    expect(await failing('openai', 'gpt-4o', answer)).toEqual(['provider_rate_limited', 1])
  })

  it('of Anthropic is an answer without its last event', async () => {
    const answer = whole(anthropic.text.slice(0, anthropic.text.indexOf('event: message_stop')))
    expect(await failing('anthropic', anthropic.model, answer)).toEqual(['provider_stream_broken', 1])
  })

  it('of Google is a malformed tool call', async () => {
    const answer = whole('data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n')
    expect(await failing('google', google.model, answer)).toEqual(['provider_error', 1])
  })
})

describe('an answer without usage of the provider', () => {
  it('has tokens estimated by its length, regardless of its chunks, and marked as estimated', async () => {
    const world = await openTurns('openai', 'm')
    const text = 'abcd'.repeat(20)
    world.first.script(whole(framesOf(delta({ role: 'assistant', content: text }), delta({}, 'stop'), '[DONE]')))
    const messages = [{ role: 'user', content: 'Hi' }] as const
    const { answer } = await world.stream({ model: 'm', messages, tools: [], idempotencyKey: 'k' })
    expect(answer.usage).toMatchObject({ outputTokens: 20, cachedTokens: 0, estimated: true })
    expect(answer.usage.inputTokens).toBeGreaterThan(0)
    await world.close()
  })
})

describe('an unreachable provider', () => {
  it.each(['openai', 'anthropic', 'google'] as const)('causes provider_unavailable (%s)', async (id) => {
    const world = await openTurns(id, 'm')
    await world.first.close()
    const messages = [{ role: 'user', content: 'Hi' }] as const
    const running = world.stream({ model: 'm', messages, tools: [], idempotencyKey: 'k' })
    await expect(running).rejects.toMatchObject({ code: 'provider_unavailable' })
    await world.close()
  })
})
