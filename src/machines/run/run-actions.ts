import { setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { type Refusing, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Emission, type Message, type Shown } from '../index.ts'
import { callsAfter, takes } from '../tool-call/tool-call.ts'
import {
  actionMessages,
  addUsage,
  compaction,
  isRunning,
  progressOf,
  someCall,
  waitMessages,
} from '../tool-call/tool-calls.ts'
import type { RunContext, RunEnd, RunError, RunEvent, RunInput } from './run-data.ts'
import {
  afterChild,
  answerEvents,
  approvedEvents,
  busyCalls,
  callersCall,
  callersChildren,
  callsAfterAnswer,
  childEvents,
  claim,
  delegatedEvent,
  delegationRefusal,
  emission,
  endEvent,
  endMessages,
  exceeded,
  findingEvents,
  isAgent,
  isClaimed,
  modelCallStarted,
  noticeOf,
  openChildren,
  queuedEvent,
  resolvingEvents,
  slotReturn,
  waitingEvents,
  withChild,
} from './run-steps.ts'

/** Sink for messages that request a slot (src/actors/runs/join-queue.ts). */
export const queueSink = 'run_queue'

/** Types, actions, guards and delays of the run's chart. */
export const runSetup = setup({
  types: {
    context: {} as RunContext,
    input: {} as RunInput,
    events: {} as RunEvent,
    meta: {} as Refusing<RunContext, RunEvent> & Shown<RunContext, Status<'run'>>,
  },
  actions: {
    ...vocabulary,
    callModel: (_: unknown, _params: { step: number }) => {},
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
    prepareChild: (_: unknown, _params: { action_id: string }) => {},
    eraseRun: (_: unknown, _params: { run_id: string }) => {},
  },
  guards: {
    isOpenCall: ({ context, event }) =>
      'action_id' in event && event.type !== 'child_prepared' && takes(context, event),
    isRunningCall: ({ context, event }) => event.type === 'tool_progressed' && isRunning(context, event),
    isDelegation: ({ context, event }) =>
      event.type === 'action_approved' && takes(context, event) && isAgent(context, event.action_id),
    isPrepared: ({ context, event }) =>
      'action_id' in event && busyCalls(context).some(({ action_id }) => action_id === event.action_id),
    mayDelegate: ({ context, event }) =>
      event.type === 'delegate' && !isClaimed(context, event.child) && delegationRefusal(context) === null,
    isChild: ({ context, event }) =>
      event.type === 'child_ended' && openChildren(context).some(({ child }) => child === event.run_id),
    answersFinally: ({ context, event }) =>
      event.type === 'model_answered' &&
      event.calls.length + context.told.length + callersChildren(context).length === 0,
    someAreBusy: ({ context }) => busyCalls(context).length > 0,
    someWait: ({ context }) => someCall(context, 'pending'),
    someAreDelegated: ({ context }) => openChildren(context).length > 0,
    isExhausted: ({ context }) => exceeded(context) !== null,
    hasSlot: ({ context }) => context.slot,
    lacksSlot: ({ context }) => !context.slot,
  },
  delays: {
    expiry: ({ context }) => context.expires_in_ms,
    duration: ({ context }) => context.limits.max_duration_ms,
  },
})

type On<Type extends RunEvent['type']> = At<RunContext, Extract<RunEvent, { readonly type: Type }>>

const assigns = assignsOf<RunContext, RunEvent>()

const journals = <Event>(of: (context: RunContext, event: Event) => readonly Emission[]) =>
  ({
    type: 'journal',
    params: ({ context, event }: At<RunContext, Event>) => ({ events: of(context, event) }),
  }) as const

const sends = <Event>(of: (context: RunContext, event: Event) => readonly Message[]) =>
  ({
    type: 'send',
    params: ({ context, event }: At<RunContext, Event>) => ({ messages: of(context, event) }),
  }) as const

const notifies = (type: Parameters<typeof noticeOf>[1]) =>
  ({ type: 'notify', params: ({ context }: { context: RunContext }) => noticeOf(context, type) }) as const

/** Requests a slot. The queue responds with `slot_granted`, in a fair order. */
export const join = sends(({ run_id, queue_id, lane }) => [
  { to: queueSink, event: { type: 'join', run_id, queue_id, lane } },
])

/** Returns the slot while the run waits for people or its children, so that other runs can work. */
export const giveSlotBack = [sends(slotReturn), runSetup.assign({ slot: false })] as const

/** Returns a slot that was granted but is not needed. */
export const unwantedSlot = sends((context) => slotReturn({ ...context, slot: true }))

interface Attribution {
  readonly by?: AuditLine['by'] | null
  readonly reason?: string | undefined
}

const lineOf = (done: 'created' | 'replayed' | 'cancelled', { by, reason }: Attribution): readonly AuditLine[] =>
  by === null || by === undefined
    ? []
    : [{ action: `run.${done}`, by, resource: 'run', ...(reason !== undefined && { reason }) }]

/** Announces a new run to its log, its queue, webhooks and the audit log. A delegation by a model is not audited. */
export const create = [
  journals((context) => [queuedEvent(context)]),
  notifies('run.queued'),
  join,
  {
    type: 'audit',
    params: ({ context }: { context: RunContext }) => ({
      lines: lineOf(context.replay_of === undefined ? 'created' : 'replayed', {
        by: context.created_by,
        reason: context.reason,
      }),
    }),
  },
] as const

/** Audits a cancellation. A child that is cancelled with its parent has no audit line of its own. */
export const auditCancelling = {
  type: 'audit',
  params: ({ event }: On<'cancel'>) => ({ lines: lineOf('cancelled', event) }),
} as const

/** Aborts the run's effects. */
export const endEffects = { type: 'abort', params: { effects: ['callModel', 'runTool', 'prepareChild'] } } as const

const clear = runSetup.assign({ slot: false, calls: [], told: [] })

/** Ends the run: journals the end and notifies all that depend on it. */
export const finish = (end: RunEnd) =>
  [
    journals((context) => [endEvent(context, end)]),
    sends((context) => endMessages(context, end)),
    notifies(`run.${end}`),
    clear,
  ] as const

/** Stores the reason why the run itself fails. */
export const failWith = (error: (context: RunContext) => RunError | null) =>
  runSetup.assign({ error: ({ context }) => error(context) })

/** Stores the error of the failed model call. */
export const modelFailed = [
  assigns(({ event: { code, message } }: On<'model_failed'>) => ({ error: { code, message } })),
  journals((_, event: On<'model_failed'>['event']) => findingEvents(event)),
] as const

/** Ends everything in progress, and removes the run. */
export const remove = {
  target: '#run.deleted',
  actions: [sends((context) => endMessages(context, 'cancelled')), clear],
} as const

/** Starts the run with its first slot. */
export const start = [
  runSetup.assign({ slot: true, started: true }),
  journals(() => [emission('run.started', {})]),
  notifies('run.started'),
] as const

const requestAnswer = {
  type: 'callModel',
  params: ({ context }: { context: RunContext }) => ({ step: context.steps }),
} as const

/** Applies a compaction, and repeats the model call with the shortened conversation. */
export const takeCompaction = [
  assigns(({ context, event }: On<'context_compacted'>) => ({ usage: addUsage(context.usage, event.usage) })),
  journals((_, event: On<'context_compacted'>['event']) => [
    { event_type: 'run.context.compacted', ...compaction(event) },
  ]),
  requestAnswer,
] as const

/** Makes the next model call. */
export const callModel = [
  journals((context) => [modelCallStarted(context)]),
  runSetup.assign({
    steps: ({ context }) => context.steps + 1,
    calls: ({ context }) => callersChildren(context),
    told: [],
  }),
  requestAnswer,
] as const

const beginCalls = runSetup.enqueueActions(({ enqueue, context }) => {
  for (const { action_id, kind, tool } of busyCalls(context)) {
    const policy = context.tools[tool]?.policy ?? 'at_most_once'
    if (kind === 'agent') enqueue({ type: 'prepareChild', params: { action_id } })
    else enqueue({ type: 'runTool', params: { action_id, policy } })
  }
})

/** Journals an answer, and starts the calls that it requests. */
export const takeAnswer = [
  assigns(({ context, event }: On<'model_answered'>) => ({
    usage: addUsage(context.usage, event.usage),
    calls: callsAfterAnswer(context, event.calls),
  })),
  journals((context, event: On<'model_answered'>['event']) => answerEvents(context, event)),
  sends((context) => actionMessages(context, { session_id: null, run_id: context.run_id }).messages),
  beginCalls,
] as const

/** Stores the run's output: the text of its last answer. */
export const keepOutput = assigns(({ event: { delta, annotations } }: On<'model_answered'>) => ({
  output: delta,
  ...(annotations !== undefined && { annotations }),
}))

/** Writes the memory of the run, by a message in the commit of its end. */
export const remember = sends((_, { memory }: On<'model_answered'>['event']) =>
  memory === undefined || memory.message === null ? [] : [memory.message],
)

/** Handles a call that a person approved, or whose output the caller gave. */
export const approved = [
  assigns(({ context, event }: On<'action_approved'>) => ({ calls: callsAfter(context, event.action_id, event) })),
  journals((context, event: On<'action_approved'>['event']) => approvedEvents(context, event)),
] as const

type Wait = 'connection_required' | 'input_required'

/** Handles a call that waits for a connection or for input; its action continues it. */
export const beginWait = [
  assigns(({ context, event }: On<Wait>) => ({ calls: callsAfter(context, event.action_id, event) })),
  journals(({ calls }, { action_id }: On<Wait>['event']) =>
    waitingEvents(calls.filter((call) => call.action_id === action_id)),
  ),
  sends((context, event: On<Wait>['event']) =>
    waitMessages(context, { session_id: null, run_id: context.run_id }, event),
  ),
] as const

/** Handles a delegation that a person approved: prepares its child. */
export const approvedDelegation = [
  ...approved,
  { type: 'prepareChild', params: ({ event }: On<'action_approved'>) => ({ action_id: event.action_id }) },
] as const

/** Journals a progress report of a tool's server. */
export const progressed = journals((context, event: On<'tool_progressed'>['event']) => [
  emission('run.tool_call.progress', progressOf(context, event)),
])

type Resolving = 'tool_answered' | 'action_executed' | 'action_rejected' | 'child_refused'

/** Handles a call that has its output, or will never have one; the model learns of it in the next call. */
export const resolved = [
  assigns(({ context, event }: On<Resolving>) => ({ calls: callsAfter(context, event.action_id, event) })),
  journals((context, event: On<Resolving>['event']) => resolvingEvents(context, event)),
] as const

/** Starts the prepared child for a delegation by the model. */
export const claimChild = [
  assigns(({ context, event }: On<'child_prepared'>) => ({
    calls: withChild(context, event.action_id, event.child.run_id),
  })),
  journals((_, { child, action_id }: On<'child_prepared'>['event']) => [delegatedEvent(child, action_id)]),
  sends((_, { child }: On<'child_prepared'>['event']) => claim(child)),
] as const

/** Handles the end of a child; its result goes to the model. */
export const childDone = [
  assigns(({ context, event }: On<'child_ended'>) => afterChild(context, event)),
  journals((context, event: On<'child_ended'>['event']) => childEvents(context, event)),
] as const

/** Starts the child of a delegation by a caller. */
export const delegate = [
  assigns(({ context, event }: On<'delegate'>) => ({ calls: [...context.calls, callersCall(event.child)] })),
  journals((_, { child }: On<'delegate'>['event']) => [delegatedEvent(child, null)]),
  sends((_, { child }: On<'delegate'>['event']) => claim(child)),
] as const
