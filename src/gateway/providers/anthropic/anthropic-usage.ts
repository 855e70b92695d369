import { counted, type ReadCount } from '#gateway/call/accounting/counted.ts'
import type { ModelAnswer } from '#gateway/call/provider-port.ts'
import { addUsage, type TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

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

/** Reasons to stop after which the answer is to be continued: between uses of tools, or after a summary. */
const pauses: ReadonlySet<unknown> = new Set([pausedTurn, 'compaction'])

/** Returns the reason of a pause; '' for other reasons of providers. */
export const pauseOf = (reason: unknown): string => (pauses.has(reason) ? textOf(reason) : '')

/**
 * Returns what the end of an answer has beside OpenAI's reason, as fields of the choice: the stop sequence as vLLM names
 * it, the provider's own reason where the answer is to be continued, and the container of its tools.
 */
export const endingFields = ({ stop_reason, stop_sequence, container }: WireObject): WireObject => ({
  ...(textOf(stop_sequence) !== '' && { stop_reason: stop_sequence }),
  ...(pauseOf(stop_reason) !== '' && { native_finish_reason: stop_reason }),
  ...(isObject(container) && { container }),
})

/**
 * Converts Anthropic's usage. Its `input_tokens` excludes tokens read from or written to the cache; ours includes them,
 * and what it charges for summaries, whose tokens are in none of its sums.
 */
export function anthropicUsage(usage: WireObject): TokenUsage | null {
  const summaries = arrayOf(usage.iterations)
    .map(objectOf)
    .filter(({ type }) => type === 'compaction')
  return counted((count) =>
    summaries.map((each) => usageOf(each, count)).reduce<TokenUsage>(addUsage, usageOf(usage, count)),
  )
}

/** Texts of a provider are short names here, or nothing. */
const placeOf = ({ inference_geo, speed }: WireObject): Pick<TokenUsage, 'inferenceGeo' | 'speed'> => ({
  ...(/^[a-z]{2}$/.test(textOf(inference_geo)) && { inferenceGeo: textOf(inference_geo) }),
  ...(speed === 'fast' && { speed }),
})

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
    ...placeOf(usage),
  }
}
