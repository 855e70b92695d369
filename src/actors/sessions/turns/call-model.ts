import type { Charge } from '#gateway/call/accounting/charge.ts'
import type { TurnFinding } from '#gateway/call/guarding/guard-finding.ts'
import { type Metered, metered } from '#gateway/turns/metered.ts'
import { BrokenAnswer, type TurnAnswer } from '#gateway/turns/turn-models.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { noUsage } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { nestsTooDeep } from '#outgoing/json-depth.ts'
import {
  type Clock,
  contextOf,
  type EffectContext,
  type EffectOutcome,
  pause,
  type UncertainEffect,
} from '#runtime/index.ts'
import { backoffMs, newIdBeside } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject, StoredEvent } from '#storage/index.ts'
import { type Compacted, type CompactParts, compacted } from '../context/compact.ts'
import type { TurnMedia } from '../input/turn-media.ts'
import { AnswerInOrder } from './answer-in-order.ts'
import { type ModelCallRequest, type Prepared, type PreparedParts, prepare, type Whose } from './prepared-call.ts'
import type { RecalledTurn } from './turn-memory.ts'

/** Dependencies of the effects that call models. */
export interface CallModelParts extends CompactParts, PreparedParts {
  readonly media: Pick<TurnMedia, 'during'>
}

/**
 * Effect that streams one model call of a session's turn: deltas as parts, then the answer with its tool calls and
 * cost.
 */
export const callModel = (parts: CallModelParts): UncertainEffect => ({
  policy: 'stream',
  run: async (_params, context) => outcomeOf(parts, turnCall(context), streaming(parts.clock, context)),
  restarted: async ({ kept, from, text }, context) => {
    const { restarts = 0, config } = contextOf(sessionDefinition, context)
    const { on_interrupted: then } = await parts.configs.read(context.owner.project, config)
    const { charged, prepared } = text === '' ? nothingLost : await chargedLost(parts, text, context)
    if (restarts >= maxRestarts || then === 'fail') return { again: false, ...failed(noText, interruption, charged) }
    const type = 'model_restarted'
    return {
      ...{ again: true, event: { type, from_sequence: from, kept }, stored: { type, ...charged } },
      // the log has only more of the lost text since, which no call contains
      run: async (_params, next) => outcomeOf(parts, turnCall(next), { ...streaming(parts.clock, next), prepared }),
    }
  },
  foreseen: ({ actor, owner, context, lastSequence: through }) => {
    const { turn, config } = contextOf(sessionDefinition, { context })
    parts.conversations.foresee(actor, owner, { isFirst: turn === 1, through })
    const read = parts.configs.read(owner.project, config)
    if (read instanceof Promise) read.catch(() => {})
  },
  unknown: interrupted,
  tooLarge,
})

const turnCall = (context: EffectContext): ModelCallRequest => {
  const session = contextOf(sessionDefinition, context)
  const whose: Whose = {
    operation: 'session.turn',
    agentId: session.agent_id,
    installationId: session.installation_id ?? null,
    sessionId: context.actor,
  }
  return { ...session, whose }
}

const streaming = (clock: Clock, context: EffectContext): Calling => ({
  ...{ context, deltas: streamedBy(clock, context), manner: atOnce },
})

/** The estimated usage of a call that a crash cut, and the call as prepared, which is the same when it is made again. */
interface LostCall {
  readonly charged: Charged
  readonly prepared?: Prepared
}

/** Nothing is known of a call of which no text is durable. */
const nothingLost: LostCall = { charged: {} }

const chargedLost = async (parts: CallModelParts, text: string, context: EffectContext): Promise<LostCall> => {
  const requested = turnCall(context)
  try {
    const prepared = await prepare(parts, requested, context)
    const { request, caller, config } = prepared
    const charge = await parts.media.during(request, context, (shown) => parts.models.lost(shown, caller, text))
    const ratePlanId = config.rate_plan_id ?? null
    if (charge === null) return { charged: {}, prepared }
    return { charged: { metered: metered({ ratePlanId, ...requested.whose, ...charge, interrupted: true }) }, prepared }
  } catch (error) {
    // the call that begins again will say what is wrong with its request
    if (error instanceof ServiceError) return nothingLost
    throw error
  }
}

/**
 * Effect that makes one model call of a run. The text is stored whole with the answer, since a run's log has no deltas.
 * No client waits for a run, so a call that hits a rate limit is repeated when the limit allows, until the run times
 * out.
 */
export const callRunModel = (parts: CallModelParts): UncertainEffect => ({
  policy: 'stream',
  run: (_params, context) => {
    const run = contextOf(runDefinition, context)
    const whose: Whose = {
      operation: 'run',
      agentId: run.agent_id,
      installationId: run.installation_id,
      ratePlanId: run.rate_plan_id,
      runId: context.actor,
    }
    return outcomeOf(parts, { ...run, whose }, { context, deltas: gathered(), manner: patientlyBy(parts.clock) })
  },
  unknown: interrupted,
  tooLarge,
})

const interruption = { code: 'interrupted', message: 'The server stopped while it was generating the answer.' }

const interrupted = (): StoredEvent => failed(noText, interruption, {}).event

const noText = { delta: '' }

const tooLarge = (): StoredEvent => failed(noText, new ServiceError('answer_too_large'), {}).event

/** How often a model call is begun again after crashes, before the turn fails. */
const maxRestarts = 3

/** Receives deltas. */
interface Deltas {
  readonly add: (text: string) => void
  /** Receives reasoning, where it is shown. */
  readonly reason?: (text: string) => void
  /** Resolves when all that was received is shown or in the log. */
  readonly written?: () => Promise<void>
  /** Whether any has come. */
  readonly some: () => boolean
  /** The fields of an outcome for the text that the log does not have yet. */
  readonly rest: () => TextOfOutcome
}

/** The text in the event, or to be added by the runtime because it was shown already. */
type TextOfOutcome = { readonly delta: string; readonly takesText?: true }

const streamedBy = (clock: Clock, context: EffectContext): Deltas => {
  const order = new AnswerInOrder(clock, context)
  let any = false
  return {
    add: (text) => {
      any ||= text !== ''
      order.say(text)
    },
    reason: (text) => order.reason(text),
    written: () => order.written(),
    some: () => any,
    rest: () => ({ delta: '', takesText: true }),
  }
}

const gathered = (): Deltas => {
  let delta = ''
  return {
    add: (text) => {
      delta += text
    },
    some: () => delta !== '',
    rest: () => ({ delta }),
  }
}

/** How a rate limit of this server is handled. */
type Manner = (call: () => Promise<TurnAnswer>, signal: AbortSignal) => Promise<TurnAnswer>

const atOnce: Manner = (call) => call()

/**
 * Longest backoff in ms between the calls of a run that is refused repeatedly; a longer `retryAfterS` takes precedence.
 */
const longestWaitMs = 30_000

const patientlyBy =
  (clock: Clock): Manner =>
  async (call, signal) => {
    for (let refused = 0; ; refused++) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'rate_limit_exceeded') throw error
        const { retryAfterS = 0 } = error.details
        await pause(clock, Math.max(retryAfterS * 1000, backoffMs(refused, 1_000, longestWaitMs)), signal)
        if (signal.aborted) throw new ServiceError('cancelled', { cause: error })
      }
    }
  }

/** How one call is made. */
interface Calling {
  readonly context: EffectContext
  readonly deltas: Deltas
  readonly manner: Manner
  /** Absent: it is prepared now. */
  readonly prepared?: Prepared | undefined
}

const outcomeOf = async (
  parts: CallModelParts,
  requested: ModelCallRequest,
  { context, deltas, manner, prepared }: Calling,
): Promise<EffectOutcome> => {
  const { request, caller, config, recalled, cited } = prepared ?? (await prepare(parts, requested, context))
  const ratePlanId = config.rate_plan_id ?? null
  const charged = (charge: Charge): Charged => ({ metered: metered({ ratePlanId, ...requested.whose, ...charge }) })
  let report: { readonly ofTurn: readonly TurnFinding[] } = { ofTurn: [] }
  const shortened = async (refused: boolean): Promise<EffectOutcome | null> => {
    const { owner, signal } = context
    const policy = config.context ?? {}
    const made = await compacted(parts, { request, caller, project: owner.project, policy, refused, signal })
    return made && compactedOutcome(made, charged)
  }
  try {
    const first = await shortened(false)
    if (first !== null) return first
    const onGuarded = (made: typeof report) => {
      report = made
    }
    const { add: onDelta, reason: onReasoning } = deltas
    const receiver = { onDelta, ...(config.show_reasoning && onReasoning !== undefined && { onReasoning }) }
    const options = { ...receiver, signal: context.signal }
    const answer = await parts.media
      .during(request, context, (shown) =>
        manner(() => parts.models.call(shown, { ...caller, onGuarded }, options), context.signal),
      )
      .finally(deltas.written)
    const annotations = cited(answer.text)
    const common = {
      text: deltas.rest(),
      answer,
      recalled,
      annotations,
      found: report.ofTurn,
      charged: charged(answer.charge),
    }
    return answered(context.actor, common)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const isTooLong = error.code === 'context_length_exceeded' && !(error instanceof BrokenAnswer) && !deltas.some()
    return (
      (isTooLong ? await shortened(true) : null) ??
      failed(deltas.rest(), error, {
        ...(error instanceof BrokenAnswer && charged(error.charge)),
        found: report.ofTurn,
      })
    )
  }
}

/** The metered usage in the stored event, from which a usage row is derived; empty where nothing was used. */
type Charged = { readonly metered?: Metered }

/** The actions are created in the shard of the session or run, which saves an approval a hop between nodes. */
const answered = (waiter: string, { text, answer, charged, recalled, annotations, found }: Answered): EffectOutcome => {
  const common = {
    type: 'model_answered',
    calls: answer.toolCalls.map((call) => ({
      action_id: newIdBeside('act', waiter),
      tool: call.name,
      arguments: parsed(call.arguments),
      ...(call.opaque !== undefined && { opaque: call.opaque }),
    })),
    usage: usageOf(answer.charge),
  }
  const memory = answer.toolCalls.length === 0 ? recalled?.remembered(answer.text) : undefined
  return {
    event: {
      ...{ ...common, delta: text.delta },
      ...(memory !== undefined && { memory }),
      ...(annotations.length > 0 && answer.toolCalls.length === 0 && { annotations }),
      ...(found.length > 0 && { found }),
    },
    stored: { ...common, ...charged },
    ...takingText(text),
  }
}

const takingText = ({ takesText }: TextOfOutcome): { readonly takesText?: true } =>
  takesText === undefined ? {} : { takesText }

interface Answered {
  readonly text: TextOfOutcome
  readonly annotations: readonly JsonObject[]
  readonly answer: TurnAnswer
  /** What guardrails found. */
  readonly found: readonly TurnFinding[]
  readonly charged: Charged
  readonly recalled: RecalledTurn | null
}

/** The compaction as an outcome. The model call is repeated with the shortened conversation once that is in the log. */
const compactedOutcome = ({ event, charge }: Compacted, charged: (charge: Charge) => Charged): EffectOutcome => {
  const common = {
    ...event,
    cuts: event.cuts.map(([from, to]) => [from, to]),
    usage: charge ? usageOf(charge) : noUsage,
  }
  return { event: common, ...(charge !== null && { stored: { ...common, ...charged(charge) } }) }
}

const usageOf = ({ usage, costUsd }: Charge): JsonObject => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  cost_usd: costUsd,
})

/** Models sometimes write malformed or extremely nested JSON; then the tool gets the text as it is. */
const parsed = (text: string): Json => {
  if (nestsTooDeep(text)) return text
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return text
  }
}

const failed = (
  text: TextOfOutcome,
  { code, message }: { readonly code: string; readonly message: string },
  { found = [], ...charged }: Charged & { readonly found?: readonly TurnFinding[] },
): { event: StoredEvent; stored: StoredEvent; takesText?: true } => {
  const common = { type: 'model_failed', code, message }
  return {
    event: { ...common, delta: text.delta, ...(found.length > 0 && { found }) },
    stored: { ...common, ...charged },
    ...takingText(text),
  }
}
