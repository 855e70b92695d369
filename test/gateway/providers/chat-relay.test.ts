import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import { openAdmission } from '#gateway/call/admission.ts'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { ChatCall, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { Route } from '#gateway/call/routes.ts'
import { type OpenChats, openChats } from '#gateway/chat/open-chats.ts'
import { completionOf } from '#gateway/providers/completion-of.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { projectScope } from '#storage/scope.ts'
import { noGuard } from '#test/gateway/no-guard.ts'
import {
  type Answer,
  cut,
  hangUp,
  openUpstream,
  refusal,
  stalled,
  trickled,
  type Upstream,
  whole,
} from '../call/scripted-upstream.ts'
import { anthropic, google } from '../call/wire-samples.ts'
import { routeTo } from './format-harness.ts'

const caller: Caller = {
  ...{ principal: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' }, scope: projectScope('prj_1') },
  ...{
    requestId: 'req_1',
    project: 'prj_1',
    tenant: null,
    externalUserId: null,
    keyId: 'key_1',
    agentId: null,
    models: null,
  },
}

/** The result of one streamed request. */
interface Streamed {
  readonly chunks: WireObject[]
  readonly begun: boolean
  readonly summary: ChatSummary | null
  readonly error: Error | null
}

describe.each([anthropic, google])('chat by $id over the network', (sample) => {
  const format = sample.id === 'google' ? 'google' : 'anthropic'
  let upstream: Upstream
  let opened: OpenChats
  let route: Route
  const recorded: GatewayCall[] = []

  const openWith = (policy: Partial<CallPolicy> = {}): OpenChats =>
    openChats({
      routes: { resolve: () => [route] },
      admission: openAdmission,
      redaction: { policyOf: () => null, forLog: (body) => body },
      ledger: { record: (call) => void recorded.push(call), flush: async () => {} },
      guard: noGuard,
      now: () => 1_700_000_000_000,
      policy: { retries: 2, backoffMs: 1, maxBackoffMs: 2, ...policy },
    })
  beforeAll(async () => {
    upstream = await openUpstream()
    route = { ...routeTo(format, sample.model), baseUrl: `${upstream.url}/base`, source: 'managed' }
    opened = openWith()
  })
  afterAll(async () => {
    await opened.chats.close()
    await upstream.close()
  })

  const callWith = (signal = new AbortController().signal): ChatCall => ({
    ...{ caller, operation: 'chat_completions.create', need: 'chat' as const, signal },
    body: {
      model: sample.model,
      messages: [{ role: 'user', content: 'Hello' }],
      stream_options: { include_usage: true },
    },
  })
  const stream = (...answers: Answer[]): Promise<Streamed> => streamOf(opened, ...answers)
  const streamOf = ({ chats }: OpenChats, ...answers: Answer[]): Promise<Streamed> => {
    upstream.script(...answers)
    recorded.length = 0
    return new Promise((resolve) => {
      const chunks: WireObject[] = []
      let begun = false
      chats.stream(callWith(), {
        begin: () => {
          begun = true
        },
        chunk: (chunk) => {
          chunks.push(chunk)
          return true
        },
        end: (summary) => resolve({ chunks, begun, summary, error: null }),
        fail: (error) => resolve({ chunks, begun, summary: null, error }),
      })
    })
  }
  const text = (chunks: readonly WireObject[]) => completionOf(chunks)

  it('streams an answer that is priced and recorded by the usage of the provider', async () => {
    const { chunks, summary } = await stream(whole(sample.text))
    expect(text(chunks)).toMatchObject({
      choices: [{ message: { content: 'Hello wörld 🌍' }, finish_reason: 'stop' }],
      usage: { total_tokens: 27 },
    })
    expect(upstream.received[0]?.path).toMatch(/^\/base\//)
    const usage = { inputTokens: 20, outputTokens: 7, cachedTokens: 5, reasoningTokens: 2 }
    expect(summary).toMatchObject({ usage, finishReason: 'stop', costUsd: expect.stringMatching(/^0\.0000\d+$/) })
    expect(recorded).toMatchObject([
      { status: 200, error: null, units: { tokens: usage }, costUsd: summary?.costUsd, attempts: 1 },
    ])
  })

  it('reads a stream that arrives in small pieces', async () => {
    const { chunks } = await stream(trickled(sample.calls, 37, 2))
    const { choices, usage } = text((await stream(whole(sample.calls))).chunks)
    expect(text(chunks)).toMatchObject({ choices, usage })
  })

  it.each([
    ['429', refusal(429, sample.rateLimit, { 'retry-after': '0' })],
    ['500', refusal(500, {})],
    ['529', refusal(529, { type: 'overloaded_error' })],
    ['hangs up', hangUp],
  ])('is retried before the first byte: %s', async (_, trouble) => {
    const { chunks, error } = await stream(trouble, whole(sample.text))
    expect(error).toBeNull()
    expect(text(chunks)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(upstream.received).toHaveLength(2)
  })

  it.each([
    ['429', refusal(429, sample.rateLimit, { 'retry-after': '0' }), 'provider_rate_limited'],
    ['503', refusal(503, {}), 'provider_unavailable'],
    ['529', refusal(529, { type: 'overloaded_error' }), 'provider_unavailable'],
  ])('fails after all attempts that end with %s', async (_, trouble, code) => {
    const { error, begun } = await stream(trouble)
    expect({ error, begun }).toMatchObject({ error: { code }, begun: false })
    expect(upstream.received).toHaveLength(3)
    expect(recorded).toMatchObject([{ units: null, costUsd: '0', error: code, attempts: 3 }])
  })

  it.each([
    [400, () => sample.tooLong, 'context_length_exceeded'],
    [401, () => ({ type: 'authentication_error' }), 'provider_error'],
    [404, () => ({ type: 'not_found_error' }), 'model_not_found'],
  ])('is not retried after a refusal with %d', async (status, error, code) => {
    expect(await stream(refusal(status, error()))).toMatchObject({ error: { code }, begun: false })
    expect(upstream.received).toHaveLength(1)
  })

  it.each([
    ['is cut', () => cut(sample.beginning), 'provider_stream_broken'],
    ['ends without an end', () => whole(sample.beginning), 'provider_stream_broken'],
    ['is malformed', () => whole(sample.malformed), 'provider_stream_broken'],
    ['says an error', () => trickled(sample.error, 2, 20), 'provider_unavailable'],
  ])('fails without a retry when the stream %s', async (_, answer, code) => {
    const { error, summary } = await stream(answer())
    expect({ error, summary }).toMatchObject({ error: { code }, summary: null })
    expect(upstream.received).toHaveLength(1)
  })

  it('fails without a retry when the stream falls silent', async () => {
    const hasty = openWith({ idleTimeoutMs: 250 })
    const { error, summary } = await streamOf(hasty, stalled(sample.beginning))
    expect({ error, summary }).toMatchObject({ error: { code: 'provider_timeout' }, summary: null })
    expect(upstream.received).toHaveLength(1)
    await hasty.chats.close()
  })

  it('times out when nothing arrives', async () => {
    const hasty = openWith({ firstByteTimeoutMs: 250 })
    expect(await streamOf(hasty, stalled(''))).toMatchObject({ error: { code: 'provider_timeout' }, begun: false })
    await hasty.chats.close()
  })

  it('closes the connection to the provider when the caller disconnects, with and without streaming', async () => {
    for (const start of ['stream', 'complete'] as const) {
      const gone = new AbortController()
      const receivedNow = Promise.withResolvers<void>()
      upstream.script((response, received) => {
        stalled(sample.beginning)(response, received)
        receivedNow.resolve()
      })
      if (start === 'complete') opened.chats.complete(callWith(gone.signal)).catch(() => {})
      else opened.chats.stream(callWith(gone.signal), { begin() {}, chunk: () => true, end() {}, fail() {} })
      await receivedNow.promise
      const goneAt = performance.now()
      gone.abort()
      expect(await upstream.received[0]?.closed).toBeGreaterThanOrEqual(goneAt)
      expect(upstream.received).toHaveLength(1)
    }
  })

  it('returns a completion when no stream is requested', async () => {
    const usage = { input_tokens: 20, output_tokens: 7 }
    const message = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: sample.model, usage },
      ...{ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' },
    }
    const response = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
      ...{ modelVersion: sample.model, usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7 } },
    }
    upstream.script((answer) => {
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.end(JSON.stringify(format === 'google' ? response : message))
    })
    expect(await opened.chats.complete(callWith())).toMatchObject({
      completion: {
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 20, completion_tokens: 7 },
      },
      model: sample.model,
    })
  })

  it('fails for an answer that is not a completion', async () => {
    upstream.script((answer) => void answer.writeHead(200).end('<html>'))
    await expect(opened.chats.complete(callWith())).rejects.toMatchObject({ code: 'provider_error' })
  })

  it('refuses what the format does not support before anything is sent', async () => {
    upstream.script(whole(sample.text))
    const body = { model: sample.model, messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }
    await expect(opened.chats.complete({ ...callWith(), body })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param: 'messages[0].content[0].type' },
    })
    expect(upstream.received).toHaveLength(0)
  })
})
