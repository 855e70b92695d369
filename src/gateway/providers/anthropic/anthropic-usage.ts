import type { ModelAnswer } from '#gateway/call/provider-port.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { countOf, objectOf, type WireObject } from '#outgoing/wire.ts'

const finishReasons: Readonly<Partial<Record<string, ModelAnswer['finishReason']>>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Maps a stop reason to OpenAI's finish reason. */
export const anthropicFinishReason = (stopReason: string): ModelAnswer['finishReason'] =>
  finishReasons[stopReason] ?? 'stop'

/**
 * Converts Anthropic's usage. Its `input_tokens` excludes tokens read from or written to the cache; ours includes them.
 */
export function anthropicUsage(usage: WireObject): TokenUsage {
  const cachedTokens = countOf(usage.cache_read_input_tokens)
  const cacheWriteTokens = countOf(usage.cache_creation_input_tokens)
  const searches = countOf(objectOf(usage.server_tool_use).web_search_requests)
  const cacheWriteLongTokens = countOf(objectOf(usage.cache_creation).ephemeral_1h_input_tokens)
  return {
    inputTokens: countOf(usage.input_tokens) + cachedTokens + cacheWriteTokens,
    outputTokens: countOf(usage.output_tokens),
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
    reasoningTokens: countOf(objectOf(usage.output_tokens_details).thinking_tokens),
    ...(searches > 0 && { searches }),
  }
}
