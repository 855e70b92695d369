import type { Response, ResponseUsage } from 'openai/resources/responses/responses'
import { costField } from '#gateway/call/accounting/shown-cost.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { ResultOf } from '#specs/index.ts'
import type { ResponseItem } from './input-items.ts'
import { shownTool } from './remote/remote-tools.ts'
import type { ResponseRequest } from './response-plan.ts'

/** OpenAI's Response document. */
export type ResponseDocument = ResultOf<'responses.create'>

/** Properties of a response that are known from its beginning. */
export interface ResponseHead {
  readonly id: string
  /** s since the epoch. */
  readonly createdAt: number
  readonly request: ResponseRequest
  readonly store: boolean
  /** Id of the conversation that it belongs to; null for none. */
  readonly conversation: string | null
}

/** The current state of a response. */
export interface ResponseState {
  readonly status: ResponseDocument['status']
  readonly model: string
  readonly output: readonly ResponseItem[]
  readonly usage?: TokenUsage
  /** As exact decimal text; null or absent when the price is unknown. */
  readonly costUsd?: string | null
  readonly error?: ResponseDocument['error']
  readonly incompleteReason?: string
  /** s since the epoch. */
  readonly completedAt?: number
}

/** Builds the document of a response, with the settings of its request. */
export const responseDocument = (head: ResponseHead, state: ResponseState): ResponseDocument => ({
  ...({
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    completed_at: state.completedAt ?? null,
    status: state.status,
    background: head.request.background === true,
    model: state.model,
    conversation: head.conversation === null ? null : { id: head.conversation },
  } satisfies Partial<Response>),
  error: state.error ?? null,
  incomplete_details: state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
  output: state.output,
  usage: state.usage === undefined ? null : usageDocument(state.usage, state.costUsd ?? null),
  store: head.store,
  ...settingsOf(head.request),
})

const settingsOf = (request: ResponseRequest) => ({
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  max_tool_calls: request.max_tool_calls ?? null,
  metadata: request.metadata ?? {},
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  previous_response_id: request.previous_response_id ?? null,
  prompt: request.prompt ?? null,
  reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
  temperature: request.temperature ?? null,
  text: { ...request.text, format: request.text?.format ?? { type: 'text' } },
  tool_choice: request.tool_choice ?? 'auto',
  tools: (request.tools ?? []).map(shownTool),
  top_p: request.top_p ?? null,
  truncation: request.truncation ?? 'disabled',
  access_programs: null,
})

/** Converts usage to OpenAI's form. @param costUsd as exact decimal text; null when the price is unknown. */
export const usageDocument = (usage: TokenUsage, costUsd: string | null) => ({
  ...usageOf(usage),
  ...costField(costUsd),
})

const usageOf = (usage: TokenUsage): ResponseUsage => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens ?? 0 },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
})
