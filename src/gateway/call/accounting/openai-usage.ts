import { Decimal } from 'decimal.js'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { countOf, objectOf, type WireObject } from '#outgoing/wire.ts'

/** Converts the `usage` object of an OpenAI chat completion. */
export function usageOf(usage: WireObject): TokenUsage {
  const details = objectOf(usage.prompt_tokens_details)
  const written = objectOf(usage.completion_tokens_details)
  return {
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
    cachedTokens: countOf(details.cached_tokens),
    ...cacheWrites(details),
    reasoningTokens: countOf(written.reasoning_tokens),
    ...audioTokens(details.audio_tokens, written.audio_tokens),
    ...charged(usage.cost),
  }
}

/** Token counts of audio input and output; counts of zero are left out. */
export function audioTokens(input: unknown, output: unknown, cached?: unknown): AudioTokens {
  const [audioInputTokens, audioOutputTokens, audioCachedTokens] = [countOf(input), countOf(output), countOf(cached)]
  return {
    ...(audioInputTokens > 0 && { audioInputTokens }),
    ...(audioOutputTokens > 0 && { audioOutputTokens }),
    ...(audioCachedTokens > 0 && { audioCachedTokens }),
  }
}

type AudioTokens = Pick<TokenUsage, 'audioInputTokens' | 'audioOutputTokens' | 'audioCachedTokens'>

/** OpenRouter reports what an answer cost, in credits of one USD each. */
const charged = (cost: unknown): Pick<TokenUsage, 'chargedUsd'> =>
  typeof cost === 'number' && cost >= 0 && Number.isFinite(cost) ? { chargedUsd: new Decimal(cost).toFixed() } : {}

/** Tokens written to the prompt cache, from the details of the input in either of OpenAI's formats. */
export function cacheWrites(details: WireObject): Pick<TokenUsage, 'cacheWriteTokens' | 'cacheWriteLongTokens'> {
  const cacheWriteTokens = countOf(details.cache_write_tokens)
  const cacheWriteLongTokens = countOf(objectOf(details.cache_write_tokens_details).ttl_12h_tokens)
  return {
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
  }
}
