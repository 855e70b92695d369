import { describe, expect, it } from 'vitest'
import { endOf } from '#gateway/apis/responses/upstream-reader.ts'
import { countOrNull } from '#gateway/call/accounting/counted.ts'
import { charged, chargedIn, usageOf } from '#gateway/call/accounting/openai-usage.ts'
import { possibleUnits } from '#gateway/call/accounting/possible-units.ts'
import { usageOf as embeddedUsage } from '#gateway/embeddings/embedding-candidate.ts'
import { embeddingRequest } from '#gateway/embeddings/embedding-request.ts'
import { anthropicUsage } from '#gateway/providers/anthropic/anthropic-usage.ts'
import { geminiTokens } from '#gateway/providers/google/gemini-audio.ts'
import { googleUsage } from '#gateway/providers/google/google-usage.ts'
import { secondsOf } from '#gateway/providers/voice/timed-text.ts'
import { responseUsage, transcriptUsage } from '#gateway/realtime/relay/realtime-usage.ts'
import { isObject } from '#outgoing/wire.ts'
import { anthropic, google } from '../call/wire-samples.ts'
import { decoded, hello, requestOf } from './format-harness.ts'

const impossible = [1e308, 1e12, 1_000_000_001, -1, 1.5, '7', true, [], {}]

const readers: Readonly<Record<string, (count: unknown) => unknown>> = {
  'a chat of OpenAI': (count) => usageOf({ prompt_tokens: count, completion_tokens: 1 }),
  'details of a chat': (count) => usageOf({ prompt_tokens: 1, completion_tokens_details: { reasoning_tokens: count } }),
  'writes to a cache': (count) => usageOf({ prompt_tokens_details: { cache_write_tokens: count } }),
  'a response of OpenAI': (count) => endOf({ usage: { input_tokens: 1, output_tokens: count } }, 'm', false).usage,
  'a message of Anthropic': (count) => anthropicUsage({ input_tokens: 1, cache_read_input_tokens: count }),
  'searches of Anthropic': (count) => anthropicUsage({ server_tool_use: { web_search_requests: count } }),
  'contents of Google': (count) => googleUsage({ promptTokenCount: 1, thoughtsTokenCount: count }),
  'speech of Google': (count) => geminiTokens({ promptTokenCount: count }),
  'a response in realtime': (count) => responseUsage({ input_token_details: { image_tokens: count } }),
  'a transcript in realtime': (count) => transcriptUsage({ type: 'tokens', input_tokens: count }),
}

describe('a report of usage with a count that no call can have', () => {
  it.each(Object.entries(readers))('is none, in %s', (_, read) => {
    expect(impossible.map(read)).toEqual(impossible.map(() => null))
    for (const count of [undefined, null, 0, 7, 1_000_000_000]) expect(read(count)).not.toBeNull()
  })

  it('is none for embeddings of shorter texts, and at most what was expected for audio', () => {
    const request = embeddingRequest({ input: ['Hello', 'you'] }, null)
    expect(embeddedUsage([100], request)).toMatchObject({ inputTokens: 100 })
    expect(embeddedUsage([5_000], request)).toMatchObject({ inputTokens: 3, estimated: true })
    const max = { seconds: 10 }
    expect([25, 3_600].map((seconds) => possibleUnits({ seconds }, max).seconds)).toEqual([25, 10])
  })

  it('is none for embeddings, seconds of audio and a charge in USD', () => {
    expect(impossible.map(countOrNull)).toEqual(impossible.map(() => null))
    expect([1e308, 1e7, -1, '7'].map(secondsOf)).toEqual([null, null, null, null])
    expect([1e308, 1e6, -1, '7'].map(charged)).toEqual([{}, {}, {}, {}])
    expect([1e308, 1.5].map((audio_tokens) => usageOf({ prompt_tokens_details: { audio_tokens } }))).toEqual([
      null,
      null,
    ])
    expect(charged(0.25)).toEqual({ chargedUsd: '0.25' })
    expect(chargedIn({ cost_in_usd_ticks: 37_756_000 })).toEqual({ chargedUsd: '0.0037756' })
    expect([1e308, 1e19, -1, 1.5].map((cost_in_usd_ticks) => chargedIn({ cost_in_usd_ticks }))).toEqual([
      {},
      {},
      {},
      {},
    ])
  })

  it.each([
    [anthropic, /"output_tokens":\s*\d+/g, '"output_tokens":1e308'],
    [google, /"candidatesTokenCount":\s*\d+/g, '"candidatesTokenCount":1e308'],
  ] as const)('is none in a stream, which shows no usage then ($id)', (sample, count, absurd) => {
    const request = requestOf(sample.id === 'google' ? 'google' : 'anthropic', sample.model, hello)
    expect(sample.text).toMatch(count)
    const { chunks, end } = decoded(request.decoder(), [Buffer.from(sample.text.replace(count, absurd))])
    expect([end.usage, chunks.some(({ usage }) => isObject(usage))]).toEqual([null, false])
  })
})
