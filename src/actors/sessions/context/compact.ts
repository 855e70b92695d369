import type { Charge } from '#gateway/call/accounting/charge.ts'
import type { ActorCaller } from '#gateway/call/caller.ts'
import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import type { ModelWindow } from '#gateway/routing/open-routing.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'
import type { CompactedEvent } from '#machines/session/session-data.ts'
import type { Clock } from '#runtime/index.ts'
import type { ContextPolicy } from '../turns/turn-config.ts'
import { type CompactionPlan, compactionPlan, cutMessages, TokenCount, tokensOfText } from './compaction-plan.ts'
import { summaryOf } from './summary.ts'

/** Dependencies of compaction. */
export interface CompactParts {
  readonly models: TurnModels
  readonly clock: Clock
  /** @throws {ServiceError} when the model is unknown or not available; {StoreUnavailable} */
  readonly windowOf: (project: string, model: string) => Promise<ModelWindow>
}

/** A model call that is about to be made, or that the provider refused as too long. */
export interface CompactRequest {
  readonly request: ModelRequest
  readonly caller: ActorCaller
  readonly project: string
  readonly policy: ContextPolicy
  /** Whether the provider refused the request as too long. Then it is shortened whatever the estimate is. */
  readonly refused: boolean
  readonly signal: AbortSignal
}

/** A compaction, and the charge of the model call that wrote its summary; null without such a call. */
export interface Compacted {
  readonly event: Omit<CompactedEvent, 'usage'>
  readonly charge: Charge | null
}

/** Share of the estimated tokens to keep after a provider refused a request as too long. */
const refusedShare = 0.6
/** Most of a context window that is reserved for the answer when the request sets no `maxTokens`. */
const answerShare = 0.25
/** Characters counted without yielding to the event loop: about 5 ms. */
const countedAtOnce = 100_000

/**
 * Shortens a conversation that does not fit into its model's context window. Resolves with null when it fits, when the
 * window is unknown, and when nothing can be removed.
 *
 * @throws {ServiceError} `cancelled`; {StoreUnavailable}
 */
export const compacted = async (parts: CompactParts, work: CompactRequest): Promise<Compacted | null> => {
  const { messages } = work.request
  if (messages.length < 2) return null
  const total = await totalOf(parts.clock, messages)
  const max = work.refused ? refusedShare * total : await maxTokensOf(parts, work)
  if (total <= max) return null
  const plan = compactionPlan(messages, { max, keepTurns: work.policy.keep_turns ?? null })
  if (plan === null) return null
  const written =
    work.policy.strategy === 'summarize' ? await summaryOf(parts, work, cutMessages(messages, plan.cuts)) : null
  return { event: eventOf(plan, written?.text ?? ''), charge: written?.charge ?? null }
}

const eventOf = ({ cuts, before, after }: CompactionPlan, summary: string): Compacted['event'] => ({
  type: 'context_compacted',
  strategy: summary === '' ? 'truncate' : 'summarize',
  cuts,
  summary: summary === '' ? null : summary,
  removed_messages: cuts.reduce((sum, [from, to]) => sum + to - from, 0),
  tokens_before: before,
  tokens_after: after + tokensOfText(summary),
})

/** Most tokens that the messages may have. */
const maxTokensOf = async (parts: CompactParts, { request, project, policy }: CompactRequest): Promise<number> => {
  if (policy.max_tokens !== undefined) return policy.max_tokens
  const { context, longestAnswer } = await parts.windowOf(project, request.model)
  if (context === 0) return Number.POSITIVE_INFINITY
  const answer = request.maxTokens ?? Math.min(longestAnswer || context, context * answerShare)
  const { instructions = [], tools } = request
  return Math.max(1, context - answer - tokensOfText([...instructions, JSON.stringify(tools)].join('\n')))
}

/** Tokens of a conversation. Only new messages are counted, in steps that yield to the event loop. */
const totalOf = async (clock: Clock, messages: readonly ModelMessage[]): Promise<number> => {
  const tokens = new TokenCount(messages)
  while (!tokens.count(countedAtOnce)) await new Promise<void>((resolve) => clock.soon(resolve))
  return tokens.total
}
