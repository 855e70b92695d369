import type { Json, JsonObject, StoredEvent } from '../../storage/ports.ts'
import {
  type ModelAnswer,
  ModelError,
  type ModelMessage,
  type ModelProvider,
  type ModelRequest,
} from '../gateway/provider-port.ts'
import { newIdIn } from '../ids.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Effect, EffectContext, EffectOutcome } from '../runtime/effects.ts'
import { shardOf } from '../runtime/shard.ts'
import type { Conversations } from '../sessions/conversations.ts'
import { modelTool } from '../sessions/model-tool.ts'
import { sessionContext } from '../sessions/schema.ts'
import type { TurnConfig, TurnConfigs } from '../sessions/turn-config.ts'
import { DeltaJournal } from './delta-journal.ts'

/** What a model call needs. */
export interface CallModelParts {
  readonly conversations: Conversations
  readonly configs: TurnConfigs
  /** The provider of a model, and the model's name there. @throws {ModelError} */
  readonly resolve: (model: string) => { readonly provider: ModelProvider; readonly model: string }
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costOf: (model: string, usage: ModelAnswer['usage']) => string | null
  readonly clock: Clock
}

/** Streams one model call of a session's turn: deltas as parts, then the answer with its tool calls and cost. */
export const callModel = (parts: CallModelParts): Effect => ({
  run: async (_params, context) => {
    const journal = new DeltaJournal(
      (text) => context.part({ type: 'model_delta', delta: text }, { type: 'model_delta' }),
      parts.clock,
    )
    try {
      const { provider, request } = await prepare(parts, context)
      const answer = await provider.stream(request, (text) => journal.add(text), context.signal)
      return answered(context.actor, await journal.end(), answer, parts.costOf(request.model, answer.usage))
    } catch (error) {
      const delta = await journal.end()
      if (!(error instanceof ModelError)) throw error
      return failed(delta, error.code, error.message)
    }
  },
  unknown: () => failed('', 'interrupted', 'The server stopped in the middle of the answer.').event,
})

const prepare = async (
  parts: CallModelParts,
  { actor, owner, context, idempotencyKey }: EffectContext,
): Promise<{ provider: ModelProvider; request: ModelRequest }> => {
  const session = sessionContext(context)
  const kept = parts.configs.read(owner.project, session.config)
  const config = kept instanceof Promise ? await kept : kept
  const conversation = await parts.conversations.of(actor, owner)
  const { provider, model } = parts.resolve(session.model)
  return { provider, request: requestOf(config, model, conversation.forModel(), idempotencyKey) }
}

const requestOf = (
  config: TurnConfig,
  model: string,
  messages: readonly ModelMessage[],
  idempotencyKey: string,
): ModelRequest => ({
  model,
  instructions: config.instructions,
  messages,
  tools: config.tools.map(modelTool),
  idempotencyKey,
  ...(config.temperature !== null && { temperature: config.temperature }),
  ...(config.max_tokens !== null && { maxTokens: config.max_tokens }),
})

/** The actions run where the session runs: an approval is one hop less then. */
const answered = (session: string, delta: string, answer: ModelAnswer, cost: string | null): EffectOutcome => {
  const shard = shardOf(session)
  const said = {
    type: 'model_answered',
    calls: answer.toolCalls.map((call) => ({
      action_id: newIdIn('act', shard),
      tool: call.name,
      arguments: parsed(call.arguments),
      ...(call.opaque !== undefined && { opaque: call.opaque }),
    })),
    usage: usageOf(answer, cost),
  }
  return { event: { ...said, delta }, stored: said }
}

const usageOf = ({ usage }: ModelAnswer, cost: string | null): JsonObject => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  cost_usd: cost,
})

/** Models write malformed JSON at times; then the tool gets what was written. */
const parsed = (text: string): Json => {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}

const failed = (delta: string, code: string, message: string): { event: StoredEvent; stored: StoredEvent } => {
  const stored = { type: 'model_failed', code, message }
  return { event: { ...stored, delta }, stored }
}
