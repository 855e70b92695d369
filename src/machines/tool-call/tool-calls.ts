import { Decimal } from 'decimal.js'
import type { Json, JsonObject } from '#specs/dsl/json.ts'
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
import type { Emission, Message } from '../vocabulary.ts'

/** What a turn and a run have in common: tools, and the calls of them that are open. */
export interface CallHolder {
  readonly tools: Readonly<Record<string, SessionTool>>
  readonly calls: readonly OpenCall[]
  /** Everything else that a model call needs (src/actors/sessions/turns/turn-config.ts). */
  readonly config: JsonObject
}

type ApprovedEvent = Extract<CallEvent, { readonly type: 'action_approved' }>

/** Who waits for an action: one of them is not null. */
export interface Waiter {
  readonly session_id: string | null
  readonly run_id: string | null
}

/** A call's arguments as the model gave them. */
export const argumentsOf = (call: OpenCall): Json => JSON.parse(call.arguments)

/** Whether any call is in this status. */
export const someCall = ({ calls }: Pick<CallHolder, 'calls'>, status: OpenCall['status']): boolean =>
  calls.some((call) => call.status === status)

/** A call that the model requested, as it is tracked. */
export const openCall = (holder: CallHolder, call: RequestedCall, status: OpenCall['status']): OpenCall => ({
  action_id: call.action_id,
  tool: call.tool,
  arguments: JSON.stringify(call.arguments),
  kind: holder.tools[call.tool]?.kind ?? 'unknown',
  status,
})

/** How a failure reads for the model: the output of its call. */
export const errorOutput = (code: string, message: string): string => JSON.stringify({ error: { code, message } })

/** What the model hears of a tool that it made up. */
export const unknownToolOutput = (tool: string): string => errorOutput('unknown_tool', `There is no tool ${tool}.`)

/** What a person said to a rejected call: for the model, not for those who read the log. */
export const hiddenNote = ({ note }: RejectedEvent): { readonly hidden?: JsonObject } =>
  note === undefined ? {} : { hidden: { note } }

/** Whether the call that an event names is being run. */
export const isRunning = ({ calls }: Pick<CallHolder, 'calls'>, { action_id }: ProgressEvent): boolean =>
  calls.some((call) => call.action_id === action_id && call.status === 'running')

/** What the log says of how far a call is. */
export const progressOf = ({ calls }: Pick<CallHolder, 'calls'>, event: ProgressEvent): JsonObject => {
  const { action_id, progress, total, message } = event
  const tool = calls.find((call) => call.action_id === action_id)?.tool ?? ''
  return { tool, action_id, progress, total, message }
}

/** What the log says of an approval: the output that came with it, and the arguments that the approver edited. */
export const approvalOf = ({ output, arguments: edits }: ApprovedEvent): JsonObject => ({
  ...(output !== undefined && { output }),
  ...(edits !== undefined && { arguments: JSON.parse(edits) }),
})

/** One `create` message for each call that waits for a person. */
export const actionMessages = (holder: CallHolder, waiter: Waiter): { messages: readonly Message[] } => ({
  messages: holder.calls
    .filter((call) => call.status === 'pending')
    .map((call) => ({ to: call.action_id, event: { type: 'create', input: actionInput(holder, waiter, call) } })),
})

type WaitEvent = Extract<CallEvent, { readonly type: 'connection_required' | 'input_required' }>

/** The action of a call that waits for a connection or for input, unless it is there already. */
export const waitMessages = (holder: CallHolder, waiter: Waiter, event: WaitEvent): readonly Message[] =>
  holder.calls
    .filter((call) => event.by === 'tool' && call.action_id === event.action_id)
    .map((call) => ({
      to: event.action_id,
      event: { type: 'create', input: { ...actionInput(holder, waiter, call), ...awaited(event) } },
    }))

const awaited = (event: WaitEvent): JsonObject =>
  event.type === 'input_required' ? { input: event.input } : { connection: event.connection }

/** What the log says of what a call waits for. */
export const waitOf = ({ connection, input }: OpenCall, otherwise: string): JsonObject => {
  if (input !== null && input !== undefined) return { reason: 'input_required', input }
  return connection === null || connection === undefined
    ? { reason: otherwise }
    : { reason: 'connection_required', connection }
}

const resolutions = { accept: 'answered', decline: 'declined', cancel: 'dismissed' } as const

/** What the log says a person, or a connection that came, did for a call. */
export const resolutionOf = ({ connected, answered }: ApprovedEvent): string => {
  if (answered !== undefined) return resolutions[answered]
  return connected === true ? 'connected' : 'approved'
}

const actionInput = (holder: CallHolder, { session_id, run_id }: Waiter, call: OpenCall): JsonObject => {
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

/** Notifies every action that still waits, or runs its tool, that what it belongs to is over. */
export const withdrawals = ({ calls, tools }: CallHolder): { messages: readonly Message[] } => ({
  messages: calls
    .filter(
      ({ status, tool, actioned }) =>
        status === 'pending' || (status === 'running' && (tools[tool]?.gated || actioned)),
    )
    .map((call) => ({ to: call.action_id, event: { type: 'cancel' } })),
})

const sum = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? null : new Decimal(left).plus(right).toFixed()

/** Adds one model call's usage; a cost once unknown stays unknown. */
export const addUsage = (usage: TurnUsage, more: TurnUsage): TurnUsage => ({
  input_tokens: usage.input_tokens + more.input_tokens,
  output_tokens: usage.output_tokens + more.output_tokens,
  total_tokens: usage.total_tokens + more.total_tokens,
  cost_usd: sum(usage.cost_usd, more.cost_usd),
})

/** What the log says of a conversation that was shortened. What exactly went is for its fold alone. */
export const compaction = (event: CompactedEvent): Pick<Emission, 'payload' | 'hidden'> => {
  const { strategy, removed_messages, tokens_before, tokens_after, summary, cuts } = event
  return {
    payload: { strategy, removed_messages, tokens_before, tokens_after, summary },
    hidden: { cuts: cuts.map(([from, to]) => [from, to]) },
  }
}

/** Adds a model call's cost to a total; an unknown price adds nothing that is known. */
export const addCost = (total: string, more: TurnUsage): string => sum(total, more.cost_usd) ?? total
