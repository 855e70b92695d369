import { Decimal } from 'decimal.js'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Notice, Refusal } from '../declared.ts'
import type { Emission, Message } from '../index.ts'
import type { ModelEvent, OpenCall, RequestedCall } from '../session/session-data.ts'
import { callsAfter, firstStatus } from '../tool-call/tool-call.ts'
import {
  approvalOf,
  argumentsOf,
  errorOutput,
  hiddenNote,
  openCall,
  resolutionOf,
  unknownToolOutput,
  waitOf,
  withdrawals,
} from '../tool-call/tool-calls.ts'
import type { RunCall, RunContext, RunEnd, RunError, RunEvent, RunInput, RunLimits } from './run-data.ts'

/** Most levels of nested delegation (specs/decisions/0071-runs.md). */
export const maxDepth = 5

/** Most open delegations of a run, so that its context stays small. */
const maxOpenChildren = 32

/** An event of a run's log. */
export const emission = (event_type: string, payload: JsonObject): Emission => ({ event_type, payload })

/** The first event of the log, with the run's input. */
export const queuedEvent = (context: RunContext): Emission => ({
  ...emission('run.queued', {
    agent_id: context.agent_id,
    version: context.version,
    installation_id: context.installation_id,
    parent_run_id: context.parent?.run_id ?? null,
    input: JSON.parse(context.input),
  }),
  ...(context.history !== undefined && { hidden: { conversation: context.history } }),
})

/** First status of a call. Tools that the caller runs wait for their output, which comes with an approval. */
const statusOf = ({ tools }: RunContext, tool: string): OpenCall['status'] => {
  const traits = tools[tool]
  const by = traits?.kind === 'function' ? 'caller_now' : 'server'
  return firstStatus({ runs: traits?.denied === false, gated: traits?.gated ?? false, by })
}

/** The calls of a model's answer, after the open delegations of callers. */
export const callsAfterAnswer = (context: RunContext, calls: readonly RequestedCall[]): readonly RunCall[] => [
  ...callersChildren(context),
  ...calls.map(
    (call): RunCall => ({
      ...openCall(context, call, statusOf(context, call.tool)),
      child: null,
      asked: 'model',
    }),
  ),
]

/** Open delegations by callers, which are kept across the model's calls. */
export const callersChildren = ({ calls }: RunContext): readonly RunCall[] =>
  calls.filter((call) => call.asked === 'caller' && call.status === 'running')

/** Delegations whose child is running. */
export const openChildren = ({ calls }: RunContext): readonly RunCall[] =>
  calls.filter((call) => call.child !== null && call.status === 'running')

/** Calls that this server itself is running. */
export const busyCalls = ({ calls }: RunContext): readonly RunCall[] =>
  calls.filter((call) => call.child === null && call.status === 'running')

const waitsFor = ({ kind }: RunCall): string => (kind === 'function' ? 'tool_output_required' : 'approval_required')

/** `run.requires_action` for each call that waits for a person or for the caller's output. */
export const waitingEvents = (calls: readonly RunCall[]): readonly Emission[] =>
  calls
    .filter((call) => call.status === 'pending')
    .map((call) =>
      emission('run.requires_action', {
        ...waitOf(call, waitsFor(call)),
        action_id: call.action_id,
        tool: call.tool,
        arguments: argumentsOf(call),
      }),
    )

const startedEvent = ({ tool, action_id, opaque, arguments: args }: RequestedCall): Emission => {
  const event = emission('run.tool_call.started', { tool, arguments: args, action_id })
  return opaque === undefined ? event : { ...event, hidden: { opaque } }
}

/** The events of a model's answer, once `context.calls` holds its calls. All its calls precede the first output. */
export const answerEvents = (
  context: RunContext,
  answer: Extract<RunEvent, { type: 'model_answered' }>,
): readonly Emission[] => {
  const { delta, calls, usage } = answer
  const own = context.calls.filter((call) => call.asked === 'model')
  return [
    emission('run.model_call.completed', { step: context.steps, model: context.model, text: delta, usage }),
    ...calls.map(startedEvent),
    ...findingEvents(answer),
    ...own.filter((call) => call.status === 'resolved').map((call) => toolCompleted(call, refusalOf(context, call))),
    ...waitingEvents(own),
  ]
}

/** Events for what guardrails found. */
export const findingEvents = ({ found = [] }: Pick<ModelEvent, 'found'>): readonly Emission[] =>
  found.map((finding) => emission('run.guardrail.triggered', finding))

const refusalOf = (context: RunContext, { tool }: RunCall): string =>
  context.tools[tool]?.denied
    ? errorOutput('denied_by_policy', `The approval policy does not let ${tool} run.`)
    : unknownToolOutput(tool)

/** The event for the output of a tool call. */
const toolCompleted = ({ action_id, tool }: RunCall, output: string): Emission =>
  emission('run.tool_call.completed', { tool, output, action_id })

const eventsOfCall = (
  { calls }: RunContext,
  actionId: string,
  of: (call: RunCall) => readonly Emission[],
): readonly Emission[] => {
  const call = calls.find((each) => each.action_id === actionId)
  return call === undefined ? [] : of(call)
}

/** Whether a call is a delegation to an agent. */
export const isAgent = ({ calls }: RunContext, actionId: string): boolean =>
  calls.some(({ action_id, kind }) => action_id === actionId && kind === 'agent')

/** The events of an approval, with the caller's output if it gave one. */
export const approvedEvents = (
  context: RunContext,
  event: Extract<RunEvent, { type: 'action_approved' }>,
): readonly Emission[] =>
  eventsOfCall(context, event.action_id, (call) => {
    const { output, ...edits } = approvalOf(event)
    const { action_id, tool } = call
    const resolution = resolutionOf(event)
    if (event.answered !== undefined) return [emission('run.action.answered', { action_id, tool, resolution })]
    const approved = emission(`run.action.${resolution}`, { action_id, tool, ...edits })
    return typeof output === 'string' ? [approved, toolCompleted(call, output)] : [approved]
  })

type Resolving = Extract<RunEvent, { type: 'tool_answered' | 'action_executed' | 'action_rejected' | 'child_refused' }>

/** The events for the output of a call, or for the reason why it will have none. */
export const resolvingEvents = (context: RunContext, event: Resolving): readonly Emission[] =>
  eventsOfCall(context, event.action_id, (call) => {
    const { action_id, tool } = call
    switch (event.type) {
      case 'tool_answered':
      case 'action_executed':
        return [toolCompleted(call, event.output)]
      case 'child_refused':
        return [toolCompleted(call, errorOutput(event.code, event.message))]
      case 'action_rejected': {
        const { reason } = event
        return [{ ...emission('run.action.rejected', { action_id, tool, reason }), ...hiddenNote(event) }]
      }
    }
  })

/**
 * The event of the next model call. It holds, hidden, the results of callers' delegations that ended since the last
 * one.
 */
export const modelCallStarted = ({ steps, model, told }: RunContext): Emission => ({
  ...emission('run.model_call.started', { step: steps + 1, model }),
  ...(told.length > 0 && { hidden: { told: told.join('\n\n') } }),
})

/** Whether this delegation is a repeated request: its child exists already. */
export const isClaimed = ({ calls }: RunContext, { run_id }: RunInput): boolean =>
  calls.some(({ child }) => child === run_id)

/** The reason why a run may not delegate further; null when it may. */
export const delegationRefusal = (context: RunContext): Refusal | null => {
  if (context.depth >= maxDepth) return { code: 'delegation_too_deep' }
  return openChildren(context).length >= maxOpenChildren ? { code: 'too_many_children' } : null
}

/** `calls`, with the child run recorded for one of them. */
export const withChild = ({ calls }: RunContext, action_id: string, child: string): readonly RunCall[] =>
  calls.map((call) => (call.action_id === action_id ? { ...call, child } : call))

/** A delegation by a caller, in the form of a call. */
export const callersCall = (child: RunInput): RunCall => ({
  action_id: child.run_id,
  tool: 'delegate',
  arguments: '{}',
  kind: 'agent',
  status: 'running',
  child: child.run_id,
  asked: 'caller',
})

/** The event of a delegation; the same commit creates the child. */
export const delegatedEvent = (child: RunInput, action_id: string | null): Emission =>
  emission('run.delegated', {
    child_run_id: child.run_id,
    agent_id: child.agent_id,
    agent_version_id: child.agent_version_id,
    action_id,
    input: JSON.parse(child.input),
  })

/** The message that creates the child run. */
export const claim = (child: RunInput): readonly Message[] => [
  { to: child.run_id, event: { type: 'create', input: child } },
]

type ChildEnded = Extract<RunEvent, { type: 'child_ended' }>

const callOfChild = ({ calls }: RunContext, { run_id }: ChildEnded): RunCall | undefined =>
  calls.find(({ child }) => child === run_id)

/**
 * The context after a child's end: its call, and for a delegation by a caller the result that the model has yet to
 * read.
 */
export const afterChild = (context: RunContext, ended: ChildEnded): Partial<RunContext> => {
  const call = callOfChild(context, ended)
  if (call === undefined) return {}
  const calls = callsAfter(context, call.action_id, ended)
  return call.asked === 'caller' ? { calls, told: [...context.told, callerResult(ended)] } : { calls }
}

/** The events of a child's end in the parent's log. */
export const childEvents = (context: RunContext, ended: ChildEnded): readonly Emission[] => {
  const call = callOfChild(context, ended)
  if (call === undefined) return []
  const { run_id, status, output, error } = ended
  const completed = emission('run.child.completed', {
    child_run_id: run_id,
    action_id: call.asked === 'model' ? call.action_id : null,
    status,
    output: output === null ? null : { text: output },
    error,
  })
  return call.asked === 'model' ? [completed, toolCompleted(call, childOutput(ended))] : [completed]
}

/** A child's result as the parent's model reads it. */
const childOutput = ({ status, output, error }: ChildEnded): string => {
  if (status === 'completed') return output ?? ''
  return errorOutput(error?.code ?? status, error?.message ?? `The delegated run is ${status}.`)
}

/** The result of a caller's delegation as the model reads it. */
const callerResult = (ended: ChildEnded): string =>
  `Result of the delegated run ${ended.run_id} (${ended.status}):\n\n${childOutput(ended)}`

/** The limit that prevents another model call; null for none. */
export const exceeded = ({ limits, steps, usage }: RunContext): RunError | null => {
  if (steps >= limits.max_steps) {
    return { code: 'too_many_steps', message: `The run makes at most ${limits.max_steps} model calls.` }
  }
  if (limits.max_tokens !== null && usage.total_tokens >= limits.max_tokens) {
    return { code: 'token_limit_exceeded', message: `The run uses at most ${limits.max_tokens} tokens.` }
  }
  if (isCostly(limits, usage.cost_usd)) {
    return { code: 'cost_limit_exceeded', message: `The run costs at most ${limits.max_cost_usd} USD.` }
  }
  return null
}

/**
 * Whether the cost limit is reached. An unknown cost cannot be limited and is allowed (specs/decisions/0071-runs.md).
 */
const isCostly = ({ max_cost_usd }: RunLimits, cost: string | null): boolean =>
  max_cost_usd !== null && cost !== null && new Decimal(cost).gte(max_cost_usd)

/** The error of a run that exceeded its duration. */
export const timeIsUp: RunError = { code: 'time_limit_exceeded', message: 'The run took longer than it may.' }

/** A run's output in the API. */
export const outputOf = ({ output, annotations }: Pick<RunContext, 'output' | 'annotations'>): JsonObject | null =>
  output === null ? null : { text: output, ...(annotations !== undefined && { annotations }) }

/** The last event of the log. */
export const endEvent = (context: RunContext, end: RunEnd): Emission => {
  const { usage, error } = context
  if (end === 'completed') return emission('run.completed', { output: outputOf(context), usage })
  return emission(`run.${end}`, end === 'failed' ? { error, usage } : { usage })
}

/** The messages at the end of a run: to the queue, its actions, its children and its parent. */
export const endMessages = (context: RunContext, end: RunEnd): readonly Message[] => [
  ...slotReturn(context),
  ...withdrawals(context).messages,
  ...childMessages(context, end === 'expired' ? 'expire' : 'cancel'),
  ...parentMessage(context, end),
]

/** The message that returns the slot, if the run has one. */
export const slotReturn = ({ slot, queue_id, lane, run_id }: RunContext): readonly Message[] =>
  slot ? [{ to: queue_id, event: { type: 'slot_returned', run_id, lane } }] : []

const childMessages = (context: RunContext, type: 'cancel' | 'expire'): readonly Message[] =>
  openChildren(context).flatMap(({ child }) => (child === null ? [] : [{ to: child, event: { type } }]))

const parentMessage = ({ parent, run_id, output, error }: RunContext, status: RunEnd): readonly Message[] =>
  parent === null
    ? []
    : [
        {
          to: parent.run_id,
          event: { type: 'child_ended', run_id, action_id: parent.action_id, status, output, error },
        },
      ]

type RunNotice = Extract<Notice['event_type'], `run.${string}`>

/** The webhook event of a run. */
export const noticeOf = (context: RunContext, event_type: RunNotice): Notice => {
  const { run_id, agent_id, installation_id, parent, usage, error } = context
  const status = event_type === 'run.started' ? 'running' : event_type.slice('run.'.length)
  const ends = ['run.completed', 'run.failed', 'run.cancelled', 'run.expired'].includes(event_type)
  return {
    event_type,
    data: {
      run_id,
      agent_id,
      installation_id,
      parent_run_id: parent?.run_id ?? null,
      status,
      ...(ends && { usage }),
      ...(event_type === 'run.completed' && { output: outputOf(context) }),
      ...(event_type === 'run.failed' && { error }),
      ...(event_type === 'run.requires_action' && { action_ids: waitingIds(context) }),
    },
  }
}

const waitingIds = ({ calls }: RunContext): readonly string[] =>
  calls.filter((call) => call.status === 'pending').map((call) => call.action_id)
