import { Decimal } from 'decimal.js'
import type { Json, JsonObject } from '../../specs/json.ts'
import type { OpenCall, RequestedCall, SessionContext, TurnUsage } from './session-data.ts'
import { type Emission, type Message, turnText } from './vocabulary.ts'

/** At most this many model calls a turn (interface-additions "Turns, tools and approvals"). */
export const maxModelCalls = 16

/** A checkpoint of the conversation is written every so many turns (interface "Session"). */
export const checkpointEvery = 50

const parsed = (call: OpenCall): Json => JSON.parse(call.arguments)

/** An event of the current turn. */
export const emission = (context: SessionContext, event_type: string, payload: JsonObject): Emission => ({
  event_type,
  turn_number: context.turn,
  payload,
})

/** The text that a model call adds; none for ''. */
export const deltaEvents = (context: SessionContext, delta: string): readonly Emission[] =>
  delta === '' ? [] : [emission(context, 'output_text.delta', { delta })]

const statusOf = (context: SessionContext, tool: string): OpenCall['status'] => {
  const traits = context.tools[tool]
  if (traits === undefined) return 'resolved'
  if (traits.gated) return 'pending'
  return traits.kind === 'function' ? 'deferred' : 'running'
}

/** The calls of a model's answer as the session tracks them. */
export const openCalls = (context: SessionContext, calls: readonly RequestedCall[]): readonly OpenCall[] =>
  calls.map((call) => ({
    action_id: call.action_id,
    tool: call.tool,
    arguments: JSON.stringify(call.arguments),
    kind: context.tools[call.tool]?.kind ?? 'unknown',
    status: statusOf(context, call.tool),
  }))

const pausedEvent = (context: SessionContext, call: OpenCall): Emission =>
  emission(context, 'turn.paused', {
    reason: 'approval_required',
    action_id: call.action_id,
    tool: call.tool,
    arguments: parsed(call),
  })

/** `turn.paused` for each call that still waits, but `except`. */
export const waitingEvents = (context: SessionContext, except?: string): readonly Emission[] =>
  context.calls
    .filter((call) => call.status === 'pending' && call.action_id !== except)
    .map((call) => pausedEvent(context, call))

const startedEvent = (context: SessionContext, call: RequestedCall): Emission => {
  const { tool, action_id, opaque } = call
  const event = emission(context, 'tool_call.started', { tool, arguments: call.arguments, action_id })
  return opaque === undefined ? event : { ...event, hidden: { opaque } }
}

const unknownToolEvent = (context: SessionContext, call: OpenCall): Emission => {
  const output = JSON.stringify({ error: { code: 'unknown_tool', message: `There is no tool ${call.tool}.` } })
  return toolCompleted(context, call.action_id, output)
}

/**
 * What a model's answer journals, once `context.calls` holds its calls. All its calls stand before the first output,
 * so that the fold of the log can tell one answer's calls from the next one's.
 */
export const answerEvents = (
  context: SessionContext,
  delta: string,
  calls: readonly RequestedCall[],
): readonly Emission[] => [
  ...deltaEvents(context, delta),
  ...calls.map((call) => startedEvent(context, call)),
  ...context.calls.filter((call) => call.kind === 'unknown').map((call) => unknownToolEvent(context, call)),
  ...waitingEvents(context),
]

/** The result of a tool that the server ran. */
export const toolCompleted = (context: SessionContext, action_id: string, output: string): Emission =>
  emission(context, 'tool_call.completed', {
    tool: context.calls.find((call) => call.action_id === action_id)?.tool ?? '',
    output,
    action_id,
  })

/** One `create` message for each call that waits for a person. */
export const actionMessages = (context: SessionContext): { messages: readonly Message[] } => ({
  messages: context.calls
    .filter((call) => call.status === 'pending')
    .map((call) => ({ to: call.action_id, event: { type: 'create', input: actionInput(context, call) } })),
})

const actionInput = (context: SessionContext, call: OpenCall): JsonObject => {
  const traits = context.tools[call.tool]
  return {
    action_id: call.action_id,
    owner: context.session_id,
    session_id: context.session_id,
    run_id: null,
    kind: call.kind,
    tool: call.tool,
    arguments: call.arguments,
    risk_level: traits?.risk_level ?? 'medium',
    policy: traits?.policy ?? 'at_most_once',
    expires_in_ms: traits?.expires_in_ms ?? 0,
    config: context.config,
  }
}

/** Tells every action that still waits, or runs its tool, that its turn is over. */
export const withdrawals = (context: SessionContext): { messages: readonly Message[] } => ({
  messages: context.calls
    .filter((call) => call.status === 'pending' || (call.status === 'running' && context.tools[call.tool]?.gated))
    .map((call) => ({ to: call.action_id, event: { type: 'cancel' } })),
})

/** `calls` with one of them changed. */
export const withStatus = (
  context: SessionContext,
  action_id: string,
  status: OpenCall['status'],
): readonly OpenCall[] => context.calls.map((call) => (call.action_id === action_id ? { ...call, status } : call))

/** `turn.completed`; with `tool_calls` when the caller has to run some. */
export const completion = (context: SessionContext): Emission => {
  const deferred = context.calls.filter((call) => call.status === 'deferred')
  return emission(context, 'turn.completed', {
    turn_number: context.turn,
    output: turnText,
    usage: context.usage,
    ...(deferred.length > 0 && {
      tool_calls: deferred.map((call) => ({ action_id: call.action_id, tool: call.tool, arguments: parsed(call) })),
    }),
  })
}

/** `turn.failed` with the text so far and the reason. */
export const failure = (context: SessionContext, code: string, message: string): Emission =>
  emission(context, 'turn.failed', {
    turn_number: context.turn,
    output: { text: turnText, error: { code, message } },
    error: { code, message },
    usage: context.usage,
  })

const sum = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? null : new Decimal(left).plus(right).toFixed()

/** Adds one model call to the turn's usage; a cost once unknown stays unknown. */
export const addUsage = (usage: TurnUsage, more: TurnUsage): TurnUsage => ({
  input_tokens: usage.input_tokens + more.input_tokens,
  output_tokens: usage.output_tokens + more.output_tokens,
  total_tokens: usage.total_tokens + more.total_tokens,
  cost_usd: sum(usage.cost_usd, more.cost_usd),
})

/** Adds a model call's cost to the session's total; an unknown price adds nothing that is known. */
export const addCost = (total: string, more: TurnUsage): string => sum(total, more.cost_usd) ?? total
