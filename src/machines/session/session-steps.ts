import type { JsonObject } from '#specs/dsl/json.ts'
import { type Emission, turnText } from '../index.ts'
import { type StreamedText, textEvents } from '../streamed-text.ts'
import { firstStatus } from '../tool-call/tool-call.ts'
import { argumentsOf, openCall, unknownToolOutput, waitOf } from '../tool-call/tool-calls.ts'
import type { ModelEvent, OpenCall, RequestedCall, SessionContext, SessionTool } from './session-data.ts'

/** Most model calls of a turn. */
export const maxModelCalls = 16

/** Number of turns between checkpoints of the conversation (specs/decisions/0001-sessions.md). */
export const checkpointEvery = 50

/** An event of the current turn. */
export const emission = (context: Pick<SessionContext, 'turn'>, event_type: string, payload: JsonObject): Emission => ({
  event_type,
  turn_number: context.turn,
  payload,
})

/** Events for what guardrails found. */
export const findingEvents = (
  context: Pick<SessionContext, 'turn'>,
  { found = [] }: Pick<ModelEvent, 'found'>,
): readonly Emission[] => found.map((finding) => emission(context, 'guardrail.triggered', finding))

/** The event for a piece of text, or of reasoning, that a model call adds. */
export const deltaEvent = (
  context: Pick<SessionContext, 'turn' | 'restarts'>,
  delta: string,
  event_type = 'output_text.delta',
): Emission => {
  const { restarts } = context
  return emission(context, event_type, restarts === undefined ? { delta } : { delta, attempt: restarts + 1 })
}

/** The events for text that a model call adds; none for ''. */
export const deltaEvents = (context: SessionContext, text: StreamedText): readonly Emission[] =>
  textEvents(text, (delta) => deltaEvent(context, delta))

const firstStatusOf = ({ tools }: SessionContext, tool: string): OpenCall['status'] => {
  const traits = tools[tool]
  const by = traits?.kind === 'function' ? 'caller_later' : 'server'
  return firstStatus({ runs: traits !== undefined, gated: traits?.gated ?? false, by })
}

/** The calls of a model's answer in the form that the session tracks. */
export const openCalls = (context: SessionContext, calls: readonly RequestedCall[]): readonly OpenCall[] =>
  calls.map((call) => openCall(context, call, firstStatusOf(context, call.tool)))

/** Marks a call that the caller has to run: it is the only reader that needs the arguments as they are. */
const runnerOf = (tool: SessionTool | undefined): JsonObject => ({
  ...(tool?.kind === 'function' && { run_by: 'caller' }),
  ...(tool?.declared_by !== undefined && { declared_by: tool.declared_by }),
})

const pausedEvent = (context: SessionContext, call: OpenCall): Emission => {
  const tool = context.tools[call.tool]
  return emission(context, 'turn.paused', {
    ...waitOf(call, 'approval_required'),
    action_id: call.action_id,
    tool: call.tool,
    arguments: argumentsOf(call),
    ...runnerOf(tool),
    ...(tool?.approver !== undefined && { approver: tool.approver }),
  })
}

/** `turn.paused` events for this call. */
export const pausedEvents = (context: SessionContext, action_id: string): readonly Emission[] =>
  context.calls.filter((call) => call.action_id === action_id).map((call) => pausedEvent(context, call))

/** `turn.paused` for each call that still waits, except `except`. */
export const waitingEvents = (context: SessionContext, except?: string): readonly Emission[] =>
  context.calls
    .filter((call) => call.status === 'pending' && call.action_id !== except)
    .map((call) => pausedEvent(context, call))

const startedEvent = (context: SessionContext, call: RequestedCall): Emission => {
  const { tool, action_id, opaque } = call
  const runner = runnerOf(context.tools[tool])
  const event = emission(context, 'tool_call.started', { tool, arguments: call.arguments, action_id, ...runner })
  return opaque === undefined ? event : { ...event, hidden: { opaque } }
}

const unknownToolEvent = (context: SessionContext, call: OpenCall): Emission =>
  toolCompleted(context, call.action_id, unknownToolOutput(call.tool))

/**
 * The events of a model's answer, once `context.calls` holds its calls. All its calls precede the first output, so that
 * a fold of the log can separate the calls of one answer from those of the next.
 */
export const answerEvents = (
  context: SessionContext,
  answer: StreamedText & Pick<ModelEvent, 'found'>,
  calls: readonly RequestedCall[],
): readonly Emission[] => [
  ...deltaEvents(context, answer),
  ...calls.map((call) => startedEvent(context, call)),
  ...findingEvents(context, answer),
  ...context.calls.filter((call) => call.kind === 'unknown').map((call) => unknownToolEvent(context, call)),
  ...waitingEvents(context),
]

/** The event for the output of a tool that the server ran. */
export const toolCompleted = (context: SessionContext, action_id: string, output: string): Emission =>
  emission(context, 'tool_call.completed', {
    tool: context.calls.find((call) => call.action_id === action_id)?.tool ?? '',
    output,
    action_id,
  })

/** Parts of a final answer that are included in the last event of its turn. */
interface Completed {
  /** Memories that were retrieved and written. */
  readonly memory?: JsonObject | undefined
  readonly annotations?: readonly JsonObject[] | undefined
}

/** The `turn.completed` event; with `tool_calls` when the caller has to run some. */
export const completion = (context: SessionContext, { memory, annotations }: Completed = {}): Emission => {
  const deferred = context.calls.filter((call) => call.status === 'deferred')
  return emission(context, 'turn.completed', {
    turn_number: context.turn,
    output: turnText,
    usage: context.usage,
    ...(deferred.length > 0 && {
      tool_calls: deferred.map((call) => ({
        action_id: call.action_id,
        tool: call.tool,
        arguments: argumentsOf(call),
      })),
    }),
    ...(annotations !== undefined && { annotations }),
    ...(memory !== undefined && { memory }),
  })
}

/** The `turn.failed` event, with the text so far and the reason. */
export const failure = (context: SessionContext, code: string, message: string): Emission =>
  emission(context, 'turn.failed', {
    turn_number: context.turn,
    output: { text: turnText, error: { code, message } },
    error: { code, message },
    usage: context.usage,
  })
