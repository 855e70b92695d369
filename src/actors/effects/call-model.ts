import type { Json, JsonObject, StoredEvent } from '../../storage/ports.ts'
import { type ModelAnswer, ModelError, type ModelMessage, type ModelRequest } from '../gateway/provider-port.ts'
import type { ResolveTurnModel, TurnModel } from '../gateway/routing/turn-models.ts'
import { newIdIn } from '../ids.ts'
import { runContext } from '../runs/schema.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Effect, EffectContext, EffectOutcome } from '../runtime/effects.ts'
import { shardOf } from '../runtime/shard.ts'
import type { Conversations } from '../sessions/conversations.ts'
import { modelTool } from '../sessions/model-tool.ts'
import { sessionContext } from '../sessions/schema.ts'
import type { TurnConfig, TurnConfigs } from '../sessions/turn-config.ts'
import { billOf, type MeteredCall, metered } from '../usage/metered.ts'
import { DeltaJournal } from './delta-journal.ts'

/** What a model call needs. */
export interface CallModelParts {
  readonly conversations: Conversations
  readonly configs: TurnConfigs
  readonly resolve: ResolveTurnModel
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costOf: (model: string, usage: ModelAnswer['usage']) => string | null
  readonly clock: Clock
}

/** What of an actor's context a model call is made with. */
interface Asked {
  readonly model: string
  readonly config: JsonObject
  readonly whose: Whose
}

/** Who the usage of the call is put down to. */
type Whose = Pick<MeteredCall, 'operation' | 'agentId' | 'installationId' | 'ratePlanId' | 'sessionId' | 'runId'>

/** Streams one model call of a session's turn: deltas as parts, then the answer with its tool calls and cost. */
export const callModel = (parts: CallModelParts): Effect => ({
  run: async (_params, context) => {
    const journal = new DeltaJournal(
      (text) => context.part({ type: 'model_delta', delta: text }, { type: 'model_delta' }),
      parts.clock,
    )
    const session = sessionContext(context.context)
    const whose: Whose = {
      operation: 'session.turn',
      agentId: session.agent_id,
      installationId: session.installation_id ?? null,
      sessionId: context.actor,
    }
    return outcomeOf(parts, { ...session, whose }, context, {
      add: (text) => journal.add(text),
      rest: () => journal.end(),
    })
  },
  unknown: interrupted,
})

/** One model call of a run: its text comes whole with the answer, since a run's log has no deltas. */
export const callRunModel = (parts: CallModelParts): Effect => ({
  run: (_params, context) => {
    let text = ''
    const run = runContext(context.context)
    const whose: Whose = {
      operation: 'run',
      agentId: run.agent_id,
      installationId: run.installation_id,
      ratePlanId: run.rate_plan_id,
      runId: context.actor,
    }
    return outcomeOf(parts, { ...run, whose }, context, {
      add: (delta) => {
        text += delta
      },
      rest: async () => text,
    })
  },
  unknown: interrupted,
})

const interrupted = (): StoredEvent =>
  failed('', 'interrupted', 'The server stopped in the middle of the answer.').event

/** Where deltas go; `rest` ends it and resolves with the text that nobody has yet. */
interface Deltas {
  readonly add: (text: string) => void
  readonly rest: () => Promise<string>
}

const outcomeOf = async (
  parts: CallModelParts,
  asked: Asked,
  context: EffectContext,
  deltas: Deltas,
): Promise<EffectOutcome> => {
  try {
    const { found, request, ratePlanId } = await prepare(parts, asked, context)
    const answer = await found.provider.stream(request, deltas.add, context.signal)
    const call = { ratePlanId, ...asked.whose, ...billOf(found, answer.usage, parts.costOf) }
    return answered(context.actor, await deltas.rest(), answer, call)
  } catch (error) {
    const delta = await deltas.rest()
    if (!(error instanceof ModelError)) throw error
    return failed(delta, error.code, error.message)
  }
}

const prepare = async (
  parts: CallModelParts,
  asked: Asked,
  { actor, owner, idempotencyKey }: EffectContext,
): Promise<{ found: TurnModel; request: ModelRequest; ratePlanId: string | null }> => {
  const kept = parts.configs.read(owner.project, asked.config)
  const config = kept instanceof Promise ? await kept : kept
  const conversation = await parts.conversations.of(actor, owner)
  const resolved = parts.resolve(asked.model, owner.project)
  const found = resolved instanceof Promise ? await resolved : resolved
  const request = requestOf(config, found.model, conversation.forModel(), idempotencyKey)
  return { found, request, ratePlanId: config.rate_plan_id ?? null }
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

/** The actions run where the session or run does: an approval is one hop less then. */
const answered = (waiter: string, delta: string, answer: ModelAnswer, call: MeteredCall): EffectOutcome => {
  const shard = shardOf(waiter)
  const said = {
    type: 'model_answered',
    calls: answer.toolCalls.map((call) => ({
      action_id: newIdIn('act', shard),
      tool: call.name,
      arguments: parsed(call.arguments),
      ...(call.opaque !== undefined && { opaque: call.opaque }),
    })),
    usage: usageOf(answer, call.cost),
  }
  return { event: { ...said, delta }, stored: { ...said, metered: metered(call) } }
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
