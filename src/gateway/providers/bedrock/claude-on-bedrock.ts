import type { ChatBody } from '#gateway/call/chat-calls.ts'
import type { ChatFormat } from '#gateway/call/chat-format.ts'
import type { Route } from '#gateway/call/routes.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { countOf, objectOf } from '#outgoing/wire.ts'
import { type AnthropicModel, anthropicModel } from '../anthropic/anthropic-model.ts'
import { ownRequestField } from '../anthropic/anthropic-request.ts'
import { cloudBody, countFailure, type MessagesCloud } from '../anthropic/cloud-messages.ts'
import type { MessagesService } from '../anthropic/messages-service.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { vendorEvent } from './frame-decoder.ts'
import { metricsField } from './openai-events.ts'

/** A model as Anthropic's format knows it. */
export interface PlainModel {
  readonly id: string
  readonly model: AnthropicModel
}

/** Whether a model is one of Anthropic's, by its id or that of a profile. */
export const isClaude = (id: string): boolean => /(?:^|[./])anthropic\./.test(id)

const kept = [
  ...['compact-2026-01-12', 'computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24'],
  ...['context-1m-2025-08-07', 'context-management-2025-06-27', 'dev-full-thinking-2025-05-14', 'effort-2025-11-24'],
  ...['fine-grained-tool-streaming-2025-05-14', 'interleaved-thinking-2025-05-14', 'output-128k-2025-02-19'],
  ...['token-efficient-tools-2025-02-19', 'tool-examples-2025-10-29', 'tool-search-tool-2025-10-19'],
]

/** What InvokeModel has of Anthropic's Messages API. The path says whether the answer is streamed. */
export const bedrockClaude: MessagesCloud = {
  version: 'bedrock-2023-05-31',
  tools: {
    ...{ bash_: null, text_editor_: null, computer_: null, memory_: 'context-management-2025-06-27' },
    tool_search_tool_: 'tool-search-tool-2025-10-19',
  },
  betas: {
    ...Object.fromEntries(kept.map((name) => [name, name])),
    'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19',
  },
  without: ['stream', 'metadata'],
  ran: ['tool_search_tool'],
  // caching came with 3.5 Haiku and the second 3.5 Sonnet
  uncached: /^claude-(?:v2|instant|3-(?:opus|sonnet|haiku)-|3-5-sonnet-20240620)/,
}

/**
 * The operation of a chat: what the connection says. Without a setting, a request of the Messages API is sent as it is,
 * since Converse lacks much of it; InvokeModel needs no other permission and has the same price.
 */
export const operationOf = ({ settings, model }: Route, body: ChatBody): 'converse' | 'invoke' =>
  settings?.api ?? (body[ownRequestField] !== undefined && isClaude(model) ? 'invoke' : 'converse')

/** Claude on Bedrock by Anthropic's Messages API; by Converse, where a connection says so, without Anthropic's tools. */
export const bedrockMessages =
  (headers: ProviderFormat['headers'], failure: ChatFormat['failure']): NonNullable<ProviderFormat['messages']> =>
  ({ model, settings }) => {
    if (!isClaude(model)) return null
    const count: MessagesService['count'] = (route) => countTarget(route, headers, failure)
    return settings?.api === 'converse'
      ? { tools: [], fields: [], betas: false, count }
      : { tools: Object.keys(bedrockClaude.tools), fields: ['context_management'], betas: true, count }
  }

/** CountTokens takes the body of InvokeModel in base64, and the model itself instead of a profile. */
const countTarget = (
  route: Route,
  headers: ProviderFormat['headers'],
  failure: ChatFormat['failure'],
): ReturnType<MessagesService['count']> => ({
  path: `/model/${encodeURIComponent(route.model.replace(/^[\w-]+\.(?=anthropic\.)/, ''))}/count-tokens`,
  headers: headers(route),
  encode: async (document) => {
    // a budget of thinking has to be smaller than the maximum
    const max_tokens = countOf(objectOf(document.thinking).budget_tokens) + 1
    const body = await encodeJson({ ...cloudBody(document, bedrockClaude), max_tokens })
    const invokeModel = { body: Buffer.from(body).toString('base64') }
    return { contentType: 'application/json', body: JSON.stringify({ input: { invokeModel } }) }
  },
  decode: ({ inputTokens }) => ({ input_tokens: inputTokens }),
  failure: countFailure(failure),
})

/** The event of a frame, with the tokens of the cache where only Bedrock's own count has them. */
export const claudeEvent: typeof vendorEvent = (message) => {
  const event = vendorEvent(message)
  const { cacheReadInputTokenCount: read, cacheWriteInputTokenCount: written } = objectOf(event?.[metricsField])
  if (event === null || (read === undefined && written === undefined)) return event
  return { ...event, usage: { cache_read_input_tokens: read, cache_creation_input_tokens: written } }
}

/** What Anthropic's format has to know of a model here. Only Claude models have structured outputs. */
export const plainModel = ({ model: named }: Pick<Route, 'model'>): PlainModel => {
  const id = plainId(named)
  const known = anthropicModel(id)
  const { maxOutput } = anthropicModel(`bedrock/${named}`)
  const structured = known.structured && isClaude(named)
  return { id, model: { ...known, ...(maxOutput !== null && { maxOutput }), structured } }
}

/** The name of a Claude model without the vendor, the group of regions and the revision; other ids are unchanged. */
const plainId = (id: string): string =>
  isClaude(id) ? id.replace(/^.*anthropic\./, '').replace(/-v\d+(?::\d+)?$/, '') : id
