import { counted, type ReadCount } from '#gateway/call/accounting/counted.ts'
import type { ModelAnswer } from '#gateway/call/provider-port.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

const finishReasons: Readonly<Partial<Record<string, ModelAnswer['finishReason']>>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Maps a stop reason to OpenAI's finish reason. */
export const anthropicFinishReason = (stopReason: string): ModelAnswer['finishReason'] =>
  finishReasons[stopReason] ?? 'stop'

/** Stop reason of an answer that pauses between uses of Anthropic's own tools. */
export const pausedTurn = 'pause_turn'

/**
 * Returns what the end of an answer has beside OpenAI's reason, as fields of the choice: the stop sequence as vLLM names
 * it, the provider's own reason where the answer is to be continued, and the container of its tools.
 */
export const endingFields = ({ stop_reason, stop_sequence, container }: WireObject): WireObject => ({
  ...(textOf(stop_sequence) !== '' && { stop_reason: stop_sequence }),
  ...(stop_reason === pausedTurn && { native_finish_reason: pausedTurn }),
  ...(isObject(container) && { container }),
})

/**
 * Converts Anthropic's usage. Its `input_tokens` excludes tokens read from or written to the cache; ours includes them.
 */
export function anthropicUsage(usage: WireObject): TokenUsage | null {
  return counted((count) => usageOf(usage, count))
}

const usageOf = (usage: WireObject, count: ReadCount): TokenUsage => {
  const cachedTokens = count(usage.cache_read_input_tokens)
  const cacheWriteTokens = count(usage.cache_creation_input_tokens)
  const searches = count(objectOf(usage.server_tool_use).web_search_requests)
  const cacheWriteLongTokens = count(objectOf(usage.cache_creation).ephemeral_1h_input_tokens)
  return {
    inputTokens: count(usage.input_tokens) + cachedTokens + cacheWriteTokens,
    outputTokens: count(usage.output_tokens),
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
    reasoningTokens: count(objectOf(usage.output_tokens_details).thinking_tokens),
    ...(searches > 0 && { searches }),
  }
}
