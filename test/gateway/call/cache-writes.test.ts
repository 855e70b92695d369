import { describe, expect, it } from 'vitest'
import { counted } from '#gateway/call/accounting/counted.ts'
import { cacheWrites, usageOf } from '#gateway/call/accounting/openai-usage.ts'
import { anthropicUsage } from '#gateway/providers/anthropic/anthropic-usage.ts'

describe('the cache writes that a provider reports', () => {
  it('are part of the input and split by lifetime for Anthropic', () => {
    const reported = {
      input_tokens: 10,
      output_tokens: 1,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
    }
    expect(anthropicUsage(reported)).toMatchObject({
      inputTokens: 1110,
      cachedTokens: 100,
      cacheWriteTokens: 1000,
      cacheWriteLongTokens: 600,
    })
  })

  it('are part of the input and split by lifetime for OpenAI', () => {
    const prompt_tokens_details = { cached_tokens: 100, cache_write_tokens: 1000 }
    const reported = { prompt_tokens: 1110, completion_tokens: 1, prompt_tokens_details }
    expect(usageOf(reported)).toMatchObject({ inputTokens: 1110, cachedTokens: 100, cacheWriteTokens: 1000 })
    const byTime = {
      cache_write_tokens: 1000,
      cache_write_tokens_details: { ttl_12h_tokens: 600, ttl_30m_tokens: 400 },
    }
    expect(counted((count) => cacheWrites(byTime, count))).toEqual({
      cacheWriteTokens: 1000,
      cacheWriteLongTokens: 600,
    })
  })

  it('are absent when nothing was written or reported', () => {
    expect(counted((count) => cacheWrites({ cache_write_tokens: 0 }, count))).toEqual({})
    expect(counted((count) => cacheWrites({}, count))).toEqual({})
    expect(Object.keys(anthropicUsage({ input_tokens: 1, cache_creation_input_tokens: null }) ?? {})).not.toContain(
      'cacheWriteTokens',
    )
  })
})
