import { Decimal } from 'decimal.js'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { objectOf, type WireObject } from '#outgoing/wire.ts'
import { counted, type ReadCount } from './counted.ts'

/** Converts the `usage` object of an OpenAI chat completion; null for one with impossible counts. */
export function usageOf(usage: WireObject): TokenUsage | null {
  const details = objectOf(usage.prompt_tokens_details)
  const written = objectOf(usage.completion_tokens_details)
  return counted((count) => ({
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cachedTokens: count(details.cached_tokens),
    ...cacheWrites(details, count),
    reasoningTokens: count(written.reasoning_tokens),
    ...audioTokens(count, details.audio_tokens, written.audio_tokens),
    ...chargedIn(usage),
  }))
}

/** Token counts of audio input and output; counts of zero are left out, and what is no count of tokens. */
export function audioTokens(count: ReadCount, ...[input, output, cached]: readonly unknown[]): AudioTokens {
  const read = (value: unknown): number => (typeof value === 'number' && value > 0 ? count(value) : 0)
  const [audioInputTokens, audioOutputTokens, audioCachedTokens] = [read(input), read(output), read(cached)]
  return {
    ...(audioInputTokens > 0 && { audioInputTokens }),
    ...(audioOutputTokens > 0 && { audioOutputTokens }),
    ...(audioCachedTokens > 0 && { audioCachedTokens }),
  }
}

type AudioTokens = Pick<TokenUsage, 'audioInputTokens' | 'audioOutputTokens' | 'audioCachedTokens'>

/** More than any call costs. */
const maxUsd = 1_000
/** xAI charges in ticks, which are whole. */
const ticksOfUsd = 10_000_000_000

/** What the usage of an answer in OpenAI's format says that it cost. */
export const chargedIn = ({ cost, cost_in_usd_ticks: ticks }: WireObject): Pick<TokenUsage, 'chargedUsd'> =>
  Number.isSafeInteger(ticks) ? charged(Number(ticks) / ticksOfUsd) : charged(cost)

/** What a provider reports that an answer cost in USD, as OpenRouter and Perplexity do; nothing for an impossible sum. */
export const charged = (usd: unknown): Pick<TokenUsage, 'chargedUsd'> =>
  typeof usd === 'number' && usd >= 0 && usd <= maxUsd ? { chargedUsd: new Decimal(usd).toFixed() } : {}

/** Tokens written to the prompt cache, from the details of the input in either of OpenAI's formats. */
export function cacheWrites(
  details: WireObject,
  count: ReadCount,
): Pick<TokenUsage, 'cacheWriteTokens' | 'cacheWriteLongTokens'> {
  const cacheWriteTokens = count(details.cache_write_tokens)
  const cacheWriteLongTokens = count(objectOf(details.cache_write_tokens_details).ttl_12h_tokens)
  return {
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
  }
}
