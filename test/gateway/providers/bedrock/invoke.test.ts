import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { AttemptFailed } from '#gateway/call/failure.ts'
import type { Route } from '#gateway/call/routes.ts'
import { readWhole } from '#gateway/chat/whole-answer.ts'
import { bedrock } from '#gateway/providers/bedrock/bedrock-format.ts'
import { objectOf, parseJson } from '#outgoing/wire.ts'
import { chunkFrame, frame } from '#test/support/clouds/bedrock-server.ts'
import { claudeReply } from '#test/support/clouds/claude.ts'
import { decoded, failureCode, hello } from '../format-harness.ts'

const claude = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0'
const gptOss = 'openai.gpt-oss-20b-1:0'
const imported = 'arn:aws:bedrock:us-east-1:123456789012:imported-model/qwen25'

const routeOf = (model: string): Route => ({
  ...{ model, provider: 'bedrock', format: 'bedrock', baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com' },
  ...{ apiKey: 'key', source: 'byok', connectionId: 'pvc_1', settings: { api: 'invoke' } },
})
const requestOf = (model: string, body: ChatBody = hello, stream = true) => {
  const made = bedrock.chat?.request(body, routeOf(model), stream)
  if (made === undefined) throw new Error('no chat')
  return made
}
const bodyOf = async (model: string, body: ChatBody, stream = true) =>
  objectOf(parseJson(Buffer.from(await requestOf(model, body, stream).body).toString()))

const metrics = { inputTokenCount: 12, outputTokenCount: 5, invocationLatency: 1, firstByteLatency: 1 }
const chunkOf = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: gptOss },
  choices: [{ index: 0, delta, finish_reason }],
})
const { events } = claudeReply({ messages: [{ role: 'user', content: [{ type: 'text', text: 'text' }] }] })
const streams: Readonly<Record<string, readonly Buffer[]>> = {
  [claude]: events.map(chunkFrame),
  [gptOss]: [
    chunkFrame(chunkOf({ role: 'assistant', content: '' })),
    chunkFrame(chunkOf({ content: 'Hello' })),
    chunkFrame({ ...chunkOf({}, 'stop'), 'amazon-bedrock-invocationMetrics': metrics }),
  ],
}
const failureOf = (model: string, parts: readonly Buffer[]) =>
  failureCode(() => decoded(requestOf(model).decoder(), parts))

describe('a chat by InvokeModel', () => {
  it("has the vendor's body, and the model only in its path", async () => {
    expect(requestOf(claude).path).toBe(`/model/${encodeURIComponent(claude)}/invoke-with-response-stream`)
    expect(requestOf(imported, hello, false).path).toBe(`/model/${encodeURIComponent(imported)}/invoke`)
    const mark = { cache_control: { type: 'ephemeral' } }
    const limits = { max_tokens: 9, service_tier: 'auto', user: 'u', ...mark }
    expect(await bodyOf(claude, { ...hello, ...limits, anthropic_betas: 'context-1m-2025-08-07' })).toEqual({
      ...{ anthropic_version: 'bedrock-2023-05-31', anthropic_beta: ['context-1m-2025-08-07'], max_tokens: 9 },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', ...mark }] }],
    })
    const given = { ...hello, models: ['x'], max_tokens: 9, stream: true, stream_options: { include_usage: true } }
    for (const model of [gptOss, imported])
      expect(await bodyOf(model, { ...given, anthropic_betas: 'a-1' })).toEqual({
        ...{ messages: hello.messages, max_completion_tokens: 9 },
      })
  })

  it('names only beta features that Bedrock has, since it refuses requests with others', async () => {
    const named = async (anthropic_betas: string) =>
      (await bodyOf(claude, { ...hello, anthropic_betas })).anthropic_beta
    expect(await named('claude-code-20250219, interleaved-thinking-2025-05-14')).toEqual([
      'interleaved-thinking-2025-05-14',
    ])
    expect(await named('files-api-2025-04-14,interleaved-thinking')).toBeUndefined()
    expect(await named('advanced-tool-use-2025-11-20')).toEqual(['tool-search-tool-2025-10-19'])
  })

  it("counts the tokens of the cache by Bedrock's own count where the model's events do not", () => {
    const counts = { ...metrics, cacheReadInputTokenCount: 100, cacheWriteInputTokenCount: 30 }
    const last = (event: object) => [...events.slice(0, -1), { ...events.at(-1), ...event }].map(chunkFrame)
    const usageIn = (frames: readonly Buffer[]) => decoded(requestOf(claude).decoder(), frames).end.usage
    const counted = usageIn(last({ 'amazon-bedrock-invocationMetrics': counts }))
    // the events themselves say that nothing was read
    expect(counted).toMatchObject({ inputTokens: 150, cachedTokens: 0, cacheWriteTokens: 30 })
    const [first, ...others] = events
    const silent = { ...first, message: { ...objectOf(first?.message), usage: { input_tokens: 20 } } }
    const frames = [chunkFrame(silent), ...others.slice(0, -1).map(chunkFrame)]
    const end = chunkFrame({ ...events.at(-1), 'amazon-bedrock-invocationMetrics': counts })
    expect(usageIn([...frames, end])).toMatchObject({ inputTokens: 150, cachedTokens: 100, cacheWriteTokens: 30 })
  })

  it('sends nothing for a vendor whose bodies are not known, and another route may serve the call', () => {
    expect(() => requestOf('cohere.command-r-v1:0')).toThrow(AttemptFailed)
    expect(failureCode(() => requestOf('meta.llama3-8b-instruct-v1:0'))).toBe('model_not_found')
  })

  it.each(Object.entries(streams))(
    'of %s is whole with its last byte, and broken by an end before',
    (model, frames) => {
      const { end } = decoded(requestOf(model).decoder(), frames)
      expect(end).toMatchObject({ finishReason: 'stop', usage: { outputTokens: model === claude ? 7 : 5 } })
      const whole = Buffer.concat(frames)
      for (let length = 0; length < whole.length; length += 7)
        expect(failureOf(model, [whole.subarray(0, length)]), `after ${length} bytes`).toBe('provider_stream_broken')
    },
  )

  it.each(Object.entries(streams))('of %s is read again as one document, to be stored for reuse', (model, frames) => {
    const { completion, finishReason } = readWhole(Buffer.concat(frames), undefined, requestOf(model))
    expect([finishReason, completion]).toMatchObject([
      ...['stop', { choices: [{ message: { content: expect.stringContaining('Hello') } }] }],
    ])
  })

  it.each(Object.entries(streams))('of %s gives no reason to stop when an exception follows it', (model, frames) => {
    const decoder = requestOf(model).decoder()
    const stopped = model === gptOss ? [...frames.slice(0, -1), chunkFrame(chunkOf({}, 'stop'))] : frames.slice(0, -1)
    const chunks = stopped.flatMap((part) => decoder.push(part))
    expect(JSON.stringify(chunks)).toContain('Hello')
    expect(JSON.stringify(chunks)).not.toContain('"finish_reason":"stop"')
    const exception = frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, {})
    expect(failureCode(() => decoder.push(exception))).toBe('provider_rate_limited')
  })

  it('fails by a chunk that is no JSON, and passes over other events', () => {
    const bad = frame({ ':event-type': 'chunk', ':message-type': 'event' }, { bytes: '!' })
    const other = frame({ ':event-type': 'initial-response', ':message-type': 'event' }, {})
    const frames = streams[gptOss] ?? []
    expect(failureOf(gptOss, [bad])).toBe('provider_stream_broken')
    expect(failureOf(gptOss, [other, ...frames])).toBeNull()
  })

  it("is counted by Bedrock where the model's server does not count", () => {
    const counted = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const usageIn = (last: object) => {
      const frames = [...(streams[gptOss] ?? []).slice(0, -1), chunkFrame({ ...chunkOf({}, 'stop'), ...last })]
      return decoded(requestOf(gptOss).decoder(), frames).end.usage
    }
    expect(usageIn({ 'amazon-bedrock-invocationMetrics': metrics })).toMatchObject({ inputTokens: 12, outputTokens: 5 })
    expect(usageIn({ 'amazon-bedrock-invocationMetrics': metrics, usage: counted })).toMatchObject({ inputTokens: 3 })
    expect(usageIn({ 'amazon-bedrock-invocationMetrics': { ...metrics, inputTokenCount: 1e308 } })).toBeNull()
    for (const uncounted of [{}, { invocationLatency: 1 }, { outputTokenCount: 5 }])
      expect(usageIn({ 'amazon-bedrock-invocationMetrics': uncounted }), 'estimated, not free').toBeNull()
    expect(usageIn({})).toBeNull()
  })

  it('has only chunks, also when its counts are an event of their own', () => {
    const stop = chunkFrame(chunkOf({}, 'stop'))
    const counts = chunkFrame({ 'amazon-bedrock-invocationMetrics': metrics })
    const { chunks, end } = decoded(requestOf(gptOss).decoder(), [
      ...(streams[gptOss] ?? []).slice(0, -1),
      ...[stop, counts],
    ])
    for (const chunk of chunks) expect(chunk).toMatchObject({ id: 'chatcmpl-1', choices: expect.any(Array) })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 12, total_tokens: 17 } })
    expect(end.usage).toMatchObject({ inputTokens: 12 })
  })

  it('of several choices goes on with the others when one has ended, and their reasons to stop come last', () => {
    const of = (index: number, delta: object, finish_reason: string | null = null) => {
      const chunk = chunkOf(delta, finish_reason)
      return chunkFrame({ ...chunk, choices: chunk.choices.map((choice) => ({ ...choice, index })) })
    }
    const decoder = requestOf(gptOss).decoder()
    const first = [of(0, { content: 'a' }), of(0, {}, 'stop')].flatMap((part) => [...decoder.push(part)])
    expect(JSON.stringify(first)).not.toContain('"stop"')
    expect(JSON.stringify(decoder.push(of(1, { content: 'later' })))).toContain('later')
    const last = chunkFrame({ ...chunkOf({}), 'amazon-bedrock-invocationMetrics': metrics })
    const { chunks } = decoded(decoder, [of(1, {}, 'length'), last])
    expect(chunks.flatMap(({ choices }) => choices).map((choice) => objectOf(choice).finish_reason)).toEqual([
      ...[null, 'stop', 'length'],
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 12 } })
  })

  it('is broken by reasons to stop without end, and nothing is read after its end', () => {
    const decoder = requestOf(gptOss).decoder()
    const stops = Array.from({ length: 1_000 }, () => chunkFrame(chunkOf({}, 'stop')))
    expect(failureCode(() => stops.map((part) => decoder.push(part)))).toBe('provider_stream_broken')
    const more = chunkFrame({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'more' } })
    const whole = decoded(requestOf(claude).decoder(), [Buffer.concat([...(streams[claude] ?? []), more])])
    expect(JSON.stringify(whole.chunks)).not.toContain('more')
  })

  it('is read whole, with an error of its body as a failure', () => {
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const completion = { model: gptOss, choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
    const { answer } = requestOf(gptOss, hello, false)
    expect(answer(completion)).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 3 }, completion })
    expect(failureCode(() => answer({ error: { message: 'No.' } }))).toBe('provider_error')
    expect(failureCode(() => answer([]))).toBe('provider_error')
  })
})
