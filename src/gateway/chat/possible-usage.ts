import { arrayOf, countOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { heldPrice } from '../call/accounting/route-price.ts'
import { textBytes } from '../call/accounting/text-bytes.ts'
import type { ChatBody, ChatSummary } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { usageDocument } from '../providers/chunk-writer.ts'
import type { StreamEnd } from './answer-reader.ts'
import { longestAnswer, tokensAnImage } from './max-cost.ts'

/** Tokens that a provider adds to a request: templates, and instructions of its own. Reports up to it are not looked at. */
const addedTokens = 16_384
/** Context windows that a model reads in a call whose provider fetches, searches and calls tools by itself. */
const windowsOfCall = 64
/** Context window of a model that is not in the price list. */
const usualWindow = 1_000_000
/** Searches that a provider makes in a call. */
const maxSearches = 1_000

/** Fields of a request whose meaning is known, and which refer to nothing that the request does not contain. */
const plainFields: ReadonlySet<string> = new Set([
  ...['model', 'models', 'messages', 'memory', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format'],
  ...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'stop', 'n', 'max_tokens', 'max_completion_tokens'],
  ...['stream', 'stream_options', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
  ...['user', 'metadata', 'reasoning_effort', 'thinking', 'verbosity', 'service_tier', 'store', 'modalities', 'audio'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'cache_control', 'prediction'],
])
const plainParts: ReadonlySet<unknown> = new Set(['text', 'refusal', 'image_url', 'input_audio'])
/** Models that search by themselves. */
const searching = /search|online|sonar|compound|deep-research/i

/**
 * Returns what a provider reports as used, or null for more than the request and its answer can hold: such a report is as
 * good as none (specs/decisions/0081-provider-formats.md).
 */
export const possibleUsage = (usage: TokenUsage | null, body: ChatBody, route: Route): TokenUsage | null => {
  if (usage === null) return null
  const { inputTokens, outputTokens, searches = 0 } = usage
  const isUsual = inputTokens <= addedTokens && outputTokens <= addedTokens && searches <= maxSearches
  if (isUsual) return usage
  const isPossible = outputTokens <= maxWritten(body, route) && inputTokens <= maxRead(body, route)
  return isPossible && searches <= maxSearches ? usage : null
}

/** The document of an answer, with the estimated usage in place of one that is reported and impossible. */
export const withUsage = <T extends WireObject>(document: T, reported: StreamEnd, { usage }: ChatSummary): T =>
  usage === reported.usage || !isObject(document.usage) ? document : { ...document, usage: usageDocument(usage) }

/** Twice the longest answers: servers stop some tokens late, and the list may be behind a model. */
const maxWritten = (body: ChatBody, route: Route): number => {
  const requested = countOf(body.max_completion_tokens) || countOf(body.max_tokens)
  const longest = Math.max(requested, heldPrice(route)?.max_output ?? 0, longestAnswer)
  return 2 * longest * Math.max(1, countOf(body.n))
}

/** No tokenizer makes more tokens of a text than it has bytes. */
const maxRead = (body: ChatBody, route: Route): number => {
  const { isWhole, images } = contentsOf(body)
  if (isWhole && route.provider !== 'perplexity' && !searching.test(route.model))
    return textBytes(body) + images * tokensAnImage + addedTokens
  return windowsOfCall * (heldPrice(route)?.context || usualWindow)
}

/** Whether the model reads nothing but the request, and the number of its images. */
const contentsOf = ({ messages, tools, ...rest }: ChatBody): { readonly isWhole: boolean; readonly images: number } => {
  const parts = arrayOf(messages).flatMap((message) => arrayOf(objectOf(message).content).map(objectOf))
  const isWhole =
    Object.entries(rest).every(([field, value]) => plainFields.has(field) || value === undefined) &&
    arrayOf(tools).every((tool) => isObject(tool) && tool.type === 'function') &&
    parts.every(({ type }) => plainParts.has(type))
  return { isWhole, images: parts.filter(({ type }) => type === 'image_url').length }
}
