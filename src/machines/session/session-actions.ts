import { setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { type Refusing, vocabulary } from '../declared.ts'
import { type At, assignsOf, type Emission, type Shown } from '../index.ts'
import { callsAfter, nextStatus, takes } from '../tool-call/tool-call.ts'
import {
  actionMessages,
  addCost,
  addUsage,
  approvalOf,
  compaction,
  hiddenNote,
  isRunning,
  progressOf,
  resolutionOf,
  someCall,
  waitMessages,
  withdrawals,
} from '../tool-call/tool-calls.ts'
import { noUsage, type SessionContext, type SessionEvent, type SessionInput } from './session-data.ts'
import {
  answerEvents,
  checkpointEvery,
  completion,
  deltaEvent,
  deltaEvents,
  emission,
  failure,
  findingEvents,
  maxModelCalls,
  openCalls,
  pausedEvents,
  toolCompleted,
  waitingEvents,
} from './session-steps.ts'

/** Time in ms without activity after which a session expires. */
export const inactivityMs = 7 * 24 * 60 * 60 * 1000

/** Types, actions, guards and delays of the session's chart. */
export const sessionSetup = setup({
  types: {
    context: {} as SessionContext,
    input: {} as SessionInput,
    events: {} as SessionEvent,
    meta: {} as Refusing<SessionContext, SessionEvent> & Shown<SessionContext, Status<'session'>>,
  },
  actions: {
    ...vocabulary,
    callModel: (_: unknown, _params: { turn: number; step: number }) => {},
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
    writeCheckpoint: (_: unknown, _params: { turn: number }) => {},
    endMemory: (_: unknown, _params: { session_id: string }) => {},
    eraseSession: (_: unknown, _params: { session_id: string }) => {},
  },
  guards: {
    knowsResults: ({ context, event }) =>
      event.type === 'turn' &&
      retriesLatest(context, event) &&
      event.tool_results.every(({ action_id }) => owes(context, action_id, event)),
    isOpenCall: ({ context, event }) => 'action_id' in event && takes(context, event),
    isRunningCall: ({ context, event }) => event.type === 'tool_progressed' && isRunning(context, event),
    hadTurns: ({ context }) => context.turn > 0,
    someRun: ({ context }) => someCall(context, 'running'),
    someWait: ({ context }) => someCall(context, 'pending'),
    someAreTheCallers: ({ context }) => someCall(context, 'deferred'),
    answersFinally: ({ event }) => event.type === 'model_answered' && event.calls.length === 0,
    mayCallModel: ({ context }) => context.steps < maxModelCalls,
  },
  delays: { inactivity: inactivityMs },
})

type On<Type extends SessionEvent['type']> = At<SessionContext, Extract<SessionEvent, { readonly type: Type }>>

/** Whether the session waits for the caller's output of this call. */
const owes = ({ calls }: SessionContext, actionId: string, turn: On<'turn'>['event']): boolean =>
  calls.some(({ action_id, status }) => action_id === actionId && nextStatus(status, turn) !== null)

/** Whether a turn repeats no other, or the latest: a failed turn is repeated once. */
export const retriesLatest = ({ turn }: SessionContext, { retry_of = turn }: On<'turn'>['event']): boolean =>
  retry_of === turn

const assigns = assignsOf<SessionContext, SessionEvent>()

const journals = <Event>(of: (context: SessionContext, event: Event) => readonly Emission[]) =>
  ({
    type: 'journal',
    params: ({ context, event }: At<SessionContext, Event>) => ({ events: of(context, event) }),
  }) as const

/** Writes the copied history of a fork to its own log. */
export const takeHistory = sessionSetup.enqueueActions(({ enqueue, event }) => {
  if (event.type !== 'xstate.init' || event.input.fork === undefined) return
  const { history, by, reason } = event.input.fork
  enqueue({ type: 'journal', params: { events: history } })
  const line = { action: 'session.forked', by, resource: 'session', ...(reason !== undefined && { reason }) }
  enqueue({ type: 'audit', params: { lines: [line] } })
})

/** Audits the cancellation of a turn by a member, or with a reason. */
export const auditCancelling = {
  type: 'audit',
  params: ({ event: { by, reason } }: On<'cancel'>) => ({
    lines:
      by === undefined
        ? []
        : [{ action: 'session.cancelled', by, resource: 'session', ...(reason !== undefined && { reason }) }],
  }),
} as const

/** Starts a turn; the caller's outputs for the previous turn are in its first event. */
export const startTurn = [
  assigns(({ context, event: { model, config, tools } }: On<'turn'>) => ({
    turn: context.turn + 1,
    steps: 0,
    model,
    config,
    tools,
    calls: [],
    usage: noUsage,
  })),
  journals((context, { input, parts, tool_results, model, retry_of }: On<'turn'>['event']) => [
    emission(context, 'turn.started', {
      turn_number: context.turn,
      model,
      input_text: input,
      ...(parts !== undefined && { input: parts }),
      ...(retry_of !== undefined && { retry_of }),
      ...(tool_results.length > 0 && { tool_results }),
    }),
  ]),
] as const

const requestAnswer = {
  type: 'callModel',
  params: ({ context }: { context: SessionContext }) => ({ turn: context.turn, step: context.steps }),
} as const

/** Makes the next model call. */
export const callModel = [
  sessionSetup.assign(({ context: { steps } }) => ({ steps: steps + 1, calls: [], restarts: undefined })),
  requestAnswer,
] as const

/** Applies a compaction, and repeats the model call with the shortened conversation. */
export const takeCompaction = [
  assigns(({ context, event: { usage } }: On<'context_compacted'>) => ({
    usage: addUsage(context.usage, usage),
    total_cost: addCost(context.total_cost, usage),
  })),
  journals(({ turn }, event: On<'context_compacted'>['event']) => [
    { event_type: 'context.compacted', turn_number: turn, ...compaction(event) },
  ]),
  requestAnswer,
] as const

/** Journals text of a model call in progress. */
export const takeDelta = journals((context, event: On<'model_delta'>['event']) => deltaEvents(context, event))

/** Journals reasoning of a model call in progress. */
export const takeReasoning = journals((context, { delta }: On<'model_reasoned'>['event']) => [
  deltaEvent(context, delta, 'reasoning.delta'),
])

/**
 * Begins the model call again after a crash: what was streamed of the turn is superseded, so that the deltas since then
 * make its text.
 */
export const restart = [
  assigns(({ context }: On<'model_restarted'>) => ({ restarts: (context.restarts ?? 0) + 1 })),
  journals((context, { from_sequence, kept }: On<'model_restarted'>['event']) => [
    emission(context, 'turn.restarted', { from_sequence, attempt: (context.restarts ?? 0) + 1 }),
    ...deltaEvents(context, { delta: kept }).map((event) => ({ ...event, hidden: { kept: true } })),
  ]),
] as const

/** Journals an answer, and creates the actions for calls that need approval. */
export const takeAnswer = [
  assigns(({ context, event: { usage, calls } }: On<'model_answered'>) => ({
    usage: addUsage(context.usage, usage),
    total_cost: addCost(context.total_cost, usage),
    calls: openCalls(context, calls),
  })),
  journals((context, event: On<'model_answered'>['event']) => answerEvents(context, event, event.calls)),
  {
    type: 'send',
    params: ({ context }: { context: SessionContext }) =>
      actionMessages(context, { session_id: context.session_id, run_id: null }),
  },
] as const

/** Fails the turn because its model call failed. */
export const takeFailure = journals((context, event: On<'model_failed'>['event']) => [
  ...deltaEvents(context, event),
  ...findingEvents(context, event),
  failure(context, event.code, event.message),
])

/** Runs the calls that require no approval. */
export const runUngatedTools = sessionSetup.enqueueActions(({ enqueue, context }) => {
  for (const call of context.calls.filter((each) => each.status === 'running')) {
    const policy = context.tools[call.tool]?.policy ?? 'at_most_once'
    enqueue({ type: 'runTool', params: { action_id: call.action_id, policy } })
  }
})

/** Journals the turn's last event, and writes a checkpoint of the conversation every `checkpointEvery` turns. */
export const completeTurn = sessionSetup.enqueueActions(({ enqueue, context, event }) => {
  const { memory, annotations } = event.type === 'model_answered' ? event : {}
  enqueue({ type: 'journal', params: { events: [completion(context, { memory: memory?.block, annotations })] } })
  if (memory !== undefined && memory.message !== null) enqueue({ type: 'send', params: { messages: [memory.message] } })
  if (context.turn % checkpointEvery === 0) enqueue({ type: 'writeCheckpoint', params: { turn: context.turn } })
})

/** Aborts the effects of a turn. */
export const endEffects = { type: 'abort', params: { effects: ['callModel', 'runTool'] } } as const

/** Journals the turn's last event, with the reason of the failure. */
export const failTurn = (code: string, message: string) => journals((context) => [failure(context, code, message)])

/** Cancels the actions that still wait or run their tool, because their turn has ended. */
export const withdrawActions = {
  type: 'send',
  params: ({ context }: { context: SessionContext }) => withdrawals(context),
} as const

/** Drops the calls of a turn that has ended. */
export const clearCalls = sessionSetup.assign({ calls: [] })

/** Handles a call that a person approved, or whose output the caller gave. */
export const approved = [
  assigns(({ context, event }: On<'action_approved'>) => ({ calls: callsAfter(context, event.action_id, event) })),
  journals((context, event: On<'action_approved'>['event']) => [
    emission(context, 'turn.resumed', {
      action_id: event.action_id,
      resolution: resolutionOf(event),
      ...approvalOf(event),
    }),
    ...waitingEvents(context, event.action_id),
  ]),
] as const

type Wait = 'connection_required' | 'input_required'

/** Handles a call that waits for a connection or for input; its action continues it. */
export const beginWait = [
  assigns(({ context, event }: On<Wait>) => ({ calls: callsAfter(context, event.action_id, event) })),
  journals((context, { action_id }: On<Wait>['event']) => pausedEvents(context, action_id)),
  {
    type: 'send',
    params: ({ context, event }: On<Wait>) => ({
      messages: waitMessages(context, { session_id: context.session_id, run_id: null }, event),
    }),
  },
] as const

/** Handles a rejected call, which ends its turn and the other calls of its answer. */
export const rejected = [
  assigns(({ context, event }: On<'action_rejected'>) => ({ calls: callsAfter(context, event.action_id, event) })),
  withdrawActions,
  journals((context, event: On<'action_rejected'>['event']) => [
    {
      ...emission(context, 'turn.resumed', {
        action_id: event.action_id,
        resolution: 'rejected',
        reason: event.reason,
      }),
      ...hiddenNote(event),
    },
    completion({ ...context, calls: [] }),
  ]),
  clearCalls,
] as const

/** Journals a progress report of a tool's server. */
export const progressed = journals((context, event: On<'tool_progressed'>['event']) => [
  emission(context, 'tool_call.progress', progressOf(context, event)),
])

/** Handles a call that has its output. */
export const toolDone = [
  assigns(({ context, event }: On<'tool_answered' | 'action_executed'>) => ({
    calls: callsAfter(context, event.action_id, event),
  })),
  journals((context, { action_id, output }: On<'tool_answered' | 'action_executed'>['event']) => [
    toolCompleted(context, action_id, output),
  ]),
] as const
