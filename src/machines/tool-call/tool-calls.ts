import { Decimal } from 'decimal.js'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { Emission, Message } from '../index.ts'
import type {
  CallEvent,
  CompactedEvent,
  OpenCall,
  ProgressEvent,
  RejectedEvent,
  RequestedCall,
  SessionTool,
  TurnUsage,
} from '../session/session-data.ts'

/** The part common to the contexts of sessions and runs: tools and open calls. */
export interface ToolCallContext {
  readonly tools: Readonly<Record<string, SessionTool>>
  readonly calls: readonly OpenCall[]
  /** Other parameters of model calls (src/actors/sessions/turns/turn-config.ts). */
  readonly config: JsonObject
}

type ApprovedEvent = Extract<CallEvent, { readonly type: 'action_approved' }>

/** The session or run that waits for an action; one of the two is not null. */
export interface ActionParent {
  readonly session_id: string | null
  readonly run_id: string | null
}

/** A call's arguments, parsed. */
export const argumentsOf = (call: OpenCall): Json => JSON.parse(call.arguments)

/** Whether any call is in this status. */
export const someCall = ({ calls }: Pick<ToolCallContext, 'calls'>, status: OpenCall['status']): boolean =>
  calls.some((call) => call.status === status)

/** A call requested by the model, in the form that the context stores. */
export const openCall = (holder: ToolCallContext, call: RequestedCall, status: OpenCall['status']): OpenCall => ({
  action_id: call.action_id,
  tool: call.tool,
  arguments: JSON.stringify(call.arguments),
  kind: holder.tools[call.tool]?.kind ?? 'unknown',
  status,
})

/** A failure as the output of a call, which the model reads. */
export const errorOutput = (code: string, message: string): string => JSON.stringify({ error: { code, message } })

/** The output of a call of a tool that does not exist. */
export const unknownToolOutput = (tool: string): string => errorOutput('unknown_tool', `There is no tool ${tool}.`)

/** A person's comment on a rejected call. The model reads it, but it is not shown in the log. */
export const hiddenNote = ({ note }: RejectedEvent): { readonly hidden?: JsonObject } =>
  note === undefined ? {} : { hidden: { note } }

/** Whether the call that a progress report names is running. */
export const isRunning = ({ calls }: Pick<ToolCallContext, 'calls'>, { action_id }: ProgressEvent): boolean =>
  calls.some((call) => call.action_id === action_id && call.status === 'running')

/** Payload of a progress event. */
export const progressOf = ({ calls }: Pick<ToolCallContext, 'calls'>, event: ProgressEvent): JsonObject => {
  const { action_id, progress, total, message } = event
  const tool = calls.find((call) => call.action_id === action_id)?.tool ?? ''
  return { tool, action_id, progress, total, message }
}

/** The part of an approval that is logged: the caller's output, and the approver's edited arguments. */
export const approvalOf = ({ output, arguments: edits }: ApprovedEvent): JsonObject => ({
  ...(output !== undefined && { output }),
  ...(edits !== undefined && { arguments: JSON.parse(edits) }),
})

/** One `create` message for each call that waits for a person. */
export const actionMessages = (holder: ToolCallContext, waiter: ActionParent): { messages: readonly Message[] } => ({
  messages: holder.calls
    .filter((call) => call.status === 'pending')
    .map((call) => ({ to: call.action_id, event: { type: 'create', input: actionInput(holder, waiter, call) } })),
})

type WaitEvent = Extract<CallEvent, { readonly type: 'connection_required' | 'input_required' }>

/**
 * The message that creates the action of a call which waits for a connection or for input; none if the action exists.
 */
export const waitMessages = (holder: ToolCallContext, waiter: ActionParent, event: WaitEvent): readonly Message[] =>
  holder.calls
    .filter((call) => event.by === 'tool' && call.action_id === event.action_id)
    .map((call) => ({
      to: event.action_id,
      event: { type: 'create', input: { ...actionInput(holder, waiter, call), ...awaited(event) } },
    }))

const awaited = (event: WaitEvent): JsonObject =>
  event.type === 'input_required' ? { input: event.input } : { connection: event.connection }

/** The part of a log event that says what a call waits for. */
export const waitOf = ({ connection, input }: OpenCall, otherwise: string): JsonObject => {
  if (input !== null && input !== undefined) return { reason: 'input_required', input }
  return connection === null || connection === undefined
    ? { reason: otherwise }
    : { reason: 'connection_required', connection }
}

const resolutions = { accept: 'answered', decline: 'declined', cancel: 'dismissed' } as const

/** The resolution that is logged: a person's approval or response, or that a connection became available. */
export const resolutionOf = ({ connected, answered }: ApprovedEvent): string => {
  if (answered !== undefined) return resolutions[answered]
  return connected === true ? 'connected' : 'approved'
}

const actionInput = (holder: ToolCallContext, { session_id, run_id }: ActionParent, call: OpenCall): JsonObject => {
  const traits = holder.tools[call.tool]
  return {
    action_id: call.action_id,
    owner: session_id ?? run_id,
    session_id,
    run_id,
    kind: call.kind,
    tool: call.tool,
    arguments: call.arguments,
    risk_level: traits?.risk_level ?? 'medium',
    policy: traits?.policy ?? 'at_most_once',
    expires_in_ms: traits?.expires_in_ms ?? 0,
    config: holder.config,
  }
}

/** Messages that cancel the actions which still wait or run their tool, because their turn or run has ended. */
export const withdrawals = ({ calls, tools }: ToolCallContext): { messages: readonly Message[] } => ({
  messages: calls
    .filter(
      ({ status, tool, actioned }) =>
        status === 'pending' || (status === 'running' && (tools[tool]?.gated || actioned)),
    )
    .map((call) => ({ to: call.action_id, event: { type: 'cancel' } })),
})

const sum = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? null : new Decimal(left).plus(right).toFixed()

/** Adds the usage of a model call. Once a cost is unknown, the sum is unknown. */
export const addUsage = (usage: TurnUsage, more: TurnUsage): TurnUsage => ({
  input_tokens: usage.input_tokens + more.input_tokens,
  output_tokens: usage.output_tokens + more.output_tokens,
  total_tokens: usage.total_tokens + more.total_tokens,
  cost_usd: sum(usage.cost_usd, more.cost_usd),
})

/** Payload of a compaction event. The exact cuts are hidden: only the fold of the log uses them. */
export const compaction = (event: CompactedEvent): Pick<Emission, 'payload' | 'hidden'> => {
  const { strategy, removed_messages, tokens_before, tokens_after, summary, cuts } = event
  return {
    payload: { strategy, removed_messages, tokens_before, tokens_after, summary },
    hidden: { cuts: cuts.map(([from, to]) => [from, to]) },
  }
}

/** Adds a model call's cost to a total; an unknown cost adds nothing. */
export const addCost = (total: string, more: TurnUsage): string => sum(total, more.cost_usd) ?? total
