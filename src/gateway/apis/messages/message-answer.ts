import type {
  Message as SdkMessage,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ToolUseBlock,
  Usage,
} from '@anthropic-ai/sdk/resources/messages'
import { costField } from '#gateway/call/accounting/shown-cost.ts'
import type { ChatOutcome, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { contentBlocks } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { pauseOf } from '#gateway/providers/anthropic/anthropic-usage.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import type { ResultOf } from '#specs/index.ts'

/** Anthropic's Message document. */
export type Message = ResultOf<'messages.create'>
type Block = WireObject & { readonly type: string }

/** Converts a non-streamed answer to Anthropic's form. */
export const messageOf = (outcome: ChatOutcome): Message => {
  const choice = objectOf(arrayOf(outcome.completion.choices)[0])
  const blocks = blocksOf(objectOf(choice.message))
  const hasCalls = blocks.some(({ type }) => type === 'tool_use')
  const ending = endingOf(choice)
  const stop = stopOf(outcome, ending, hasCalls)
  return { ...newMessage(outcome.model, blocks, chargedUsage(outcome)), ...stop, container: ending.container }
}

/** Returns a message that has not ended. */
export const newMessage = (model: string, content: readonly Block[], usage: Message['usage']): Message => ({
  ...({
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
  } satisfies Omit<SdkMessage, 'content' | 'usage'>),
  content,
  usage,
})

/** Converts a message of chat completions to content blocks. */
export const blocksOf = (message: WireObject): readonly Block[] => {
  const text = textOf(message.content) + textOf(message.refusal)
  return [
    ...contentBlocks(text, arrayOf(message.citations), thoughtsOf(message)).map(typed),
    ...arrayOf(message.tool_calls).map((call) => callBlock(objectOf(call))),
  ]
}

const typed = (block: WireObject): Block => ({ ...block, type: textOf(block.type) })

/** Returns a text block. It has no `citations`: `@ai-sdk/anthropic` 3 takes a list or nothing, and refuses null. */
export const textBlock = (text: string) => ({ type: 'text', text }) as const satisfies Omit<TextBlock, 'citations'>

/** Returns thinking blocks as the provider signed them; unsigned reasoning is shown with an empty signature. */
const thoughtsOf = ({ thinking_blocks, reasoning_content, reasoning }: WireObject): readonly WireObject[] => {
  const signed = arrayOf(thinking_blocks).filter(isObject)
  if (signed.length > 0) return signed
  const thinking = textOf(reasoning_content) || textOf(reasoning)
  return thinking === '' ? [] : [{ type: 'thinking', thinking, signature: '' } satisfies ThinkingBlock]
}

const callBlock = (call: WireObject): Block => {
  const { name, arguments: text } = objectOf(call.function)
  const input = parseJson(textOf(text))
  return {
    type: 'tool_use',
    id: textOf(call.id),
    name: textOf(name),
    input: isObject(input) ? input : {},
    caller: { type: 'direct' },
  } satisfies ToolUseBlock
}

const stopReasons: Readonly<Record<string, StopReason>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/** How a choice ended, beside OpenAI's reason. */
export interface ChoiceEnding {
  /** The stop sequence that ended it, which Anthropic's models and vLLM report; '' for none. */
  readonly text: string
  /** Anthropic's reason for a pause, after which its caller sends the message again to continue it; '' for none. */
  readonly pause: string
  /** The container of Anthropic's tools, which the next request names. */
  readonly container: Message['container']
}

export const endingOf = ({ stop_reason, native_finish_reason, container }: WireObject): ChoiceEnding => ({
  text: textOf(stop_reason),
  pause: pauseOf(native_finish_reason),
  container: isObject(container) ? Object(container) : null,
})

/**
 * Returns why the answer ended, in Anthropic's form. OpenAI ends an answer with a forced call by `stop`, but clients of
 * this API run tools only for `tool_use`.
 */
export const stopOf = (
  { finishReason }: ChatSummary,
  { text, pause }: ChoiceEnding,
  hasCalls: boolean,
): Pick<Message, 'stop_reason' | 'stop_sequence'> => {
  if (finishReason === 'stop' && hasCalls) return { stop_reason: 'tool_use', stop_sequence: null }
  if (pause !== '') return { stop_reason: pause, stop_sequence: null }
  if (finishReason === 'stop' && text !== '') return { stop_reason: 'stop_sequence', stop_sequence: text }
  return { stop_reason: stopReasons[finishReason ?? ''] ?? 'end_turn', stop_sequence: null }
}

/** Tokens written to the cache, by the lifetime of the entry. */
const writtenTokens = (written: number, long: number) => ({
  ephemeral_5m_input_tokens: written - long,
  ephemeral_1h_input_tokens: long,
})

/** Usage of an answer, with its cost. */
export const chargedUsage = ({ usage, costUsd }: ChatSummary): Message['usage'] & WireObject => ({
  ...usageOf(usage),
  ...costField(costUsd),
})

/** Usage as Anthropic reports it: `input_tokens` does not include tokens read from or written to the cache. */
export const usageOf = (usage: TokenUsage): Message['usage'] & WireObject => {
  const written = usage.cacheWriteTokens ?? 0
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedTokens - written),
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cachedTokens,
    cache_creation_input_tokens: written,
    cache_creation: written === 0 ? null : writtenTokens(written, usage.cacheWriteLongTokens ?? 0),
    server_tool_use:
      usage.searches === undefined ? null : { web_search_requests: usage.searches, web_fetch_requests: 0 },
    service_tier: null,
    inference_geo: usage.inferenceGeo ?? null,
    output_tokens_details: null,
    speed: usage.speed ?? null,
  } satisfies Usage & { readonly speed: string | null }
}
