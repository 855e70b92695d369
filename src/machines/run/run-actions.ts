import { enqueueActions, setup } from 'xstate'
import { actionMessages, addUsage, errorOutput, isCall, someCall, toldOnly, withStatus } from '../tool-calls.ts'
import { type AuditLine, type Emission, type Message, vocabulary } from '../vocabulary.ts'
import type { RunCall, RunContext, RunEnd, RunError, RunEvent, RunInput } from './run-data.ts'
import {
  answerEvents,
  busyCalls,
  callersCall,
  callersChildren,
  callOf,
  callsAfterAnswer,
  childEvents,
  claim,
  delegatedEvent,
  emission,
  endEvent,
  endMessages,
  exceeded,
  maxDepth,
  maxOpenChildren,
  noticeOf,
  openChildren,
  slotReturn,
  toldResult,
  toolCompleted,
  withChild,
} from './run-steps.ts'

/** Messages to it ask for a slot (src/actors/runs/join-queue.ts). */
export const queueSink = 'run_queue'

/** What the chart of a run is made of. */
export const runSetup = setup({
  types: {
    context: {} as RunContext,
    input: {} as RunInput,
    events: {} as RunEvent,
  },
  actions: {
    ...vocabulary,
    callModel: (_: unknown, _params: { step: number }) => {},
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
    prepareChild: (_: unknown, _params: { action_id: string }) => {},
    eraseRun: (_: unknown, _params: { run_id: string }) => {},
  },
  guards: {
    isPending: ({ context, event }) => 'action_id' in event && isCall(context, event.action_id, 'pending'),
    isRunning: ({ context, event }) => 'action_id' in event && isCall(context, event.action_id, 'running'),
    isPrepared: ({ context, event }) =>
      'action_id' in event && busyCalls(context).some(({ action_id }) => action_id === event.action_id),
    isClaimed: ({ context, event }) =>
      event.type === 'delegate' && context.calls.some(({ child }) => child === event.child.run_id),
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
    isTooDeep: ({ context }) => context.depth >= maxDepth,
    hasTooManyChildren: ({ context }) => openChildren(context).length >= maxOpenChildren,
  },
  delays: {
    expiry: ({ context }) => context.expires_in_ms,
    duration: ({ context }) => context.limits.max_duration_ms,
  },
})

const emits = (...events: readonly Emission[]) => ({ type: 'emit', params: { events } }) as const

const sends = (of: (context: RunContext) => readonly Message[]) =>
  ({ type: 'send', params: ({ context }: { context: RunContext }) => ({ messages: of(context) }) }) as const

/** Asks for a slot; the answer is `slot_granted`, in whatever order is fair. */
export const join = sends(({ run_id, queue_id, lane }) => [
  { to: queueSink, event: { type: 'join', run_id, queue_id, lane } },
])

/** Nobody works while people or children are waited for: others may. */
export const giveSlotBack = runSetup.createAction(
  enqueueActions(({ enqueue, context }) => {
    if (!context.slot) return
    enqueue({ type: 'send', params: { messages: slotReturn(context) } })
    enqueue.assign({ slot: false })
  }),
)

/** Gives back a slot that the run does not need. */
export const unwantedSlot = sends((context) => slotReturn({ ...context, slot: true }))

const lineOf = (done: 'created' | 'cancelled', by: AuditLine['by']): AuditLine => ({
  action: `run.${done}`,
  by,
  resource: 'run',
})

/** What a model delegates is nobody's doing, and has no line of its own. */
export const auditCreation = runSetup.createAction(
  enqueueActions(({ enqueue, context: { created_by } }) => {
    if (created_by !== null) enqueue({ type: 'audit', params: lineOf('created', created_by) })
  }),
)

/** A child that ends with its parent is in the line of that. */
export const auditCancelling = runSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type === 'cancel' && event.by !== undefined) {
      enqueue({ type: 'audit', params: lineOf('cancelled', event.by) })
    }
  }),
)

const endEffects = { type: 'abort', params: { effects: ['callModel', 'runTool', 'prepareChild'] } } as const

/** Ends the run: its log, and everybody who has to hear of it. */
export const finish = (end: RunEnd) =>
  runSetup.createAction(
    enqueueActions(({ enqueue, context }) => {
      enqueue(endEffects)
      enqueue(emits(endEvent(context, end)))
      enqueue({ type: 'send', params: endMessages(context, end) })
      enqueue({ type: 'notify', params: noticeOf(context, `run.${end}`) })
      enqueue.assign({ slot: false, calls: [], told: [] })
    }),
  )

/** Fails the run for a reason of its own. */
export const failWith = (error: (context: RunContext) => RunError | null) =>
  [runSetup.assign({ error: ({ context }) => error(context) }), finish('failed')] as const

/** Ends what goes on, tells everybody, and removes the run. */
export const remove = {
  target: '#run.deleted',
  actions: [
    endEffects,
    { type: 'send', params: ({ context }: { context: RunContext }) => endMessages(context, 'cancelled') },
    runSetup.assign({ slot: false, calls: [], told: [] }),
  ],
} as const

/** The first slot: the run begins. */
export const start = runSetup.createAction(
  enqueueActions(({ enqueue, context }) => {
    enqueue.assign({ slot: true, started: true })
    enqueue(emits(emission('run.started', {})))
    enqueue({ type: 'notify', params: noticeOf(context, 'run.started') })
  }),
)

/** The next model call. */
export const askModel = runSetup.createAction(
  enqueueActions(({ enqueue, context }) => {
    const step = context.steps + 1
    const began = emission('run.model_call.started', { step, model: context.model })
    const told = context.told.length === 0 ? {} : { hidden: { told: context.told.join('\n\n') } }
    enqueue(emits({ ...began, ...told }))
    enqueue.assign({ steps: step, calls: callersChildren(context), told: [] })
    enqueue({ type: 'callModel', params: { step } })
  }),
)

/** Journals an answer and begins what it asks for. */
export const takeAnswer = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    if (event.type !== 'model_answered') return
    const usage = addUsage(context.usage, event.usage)
    const next = { ...context, usage, calls: callsAfterAnswer(context, event.calls) }
    enqueue.assign({ usage, calls: next.calls })
    enqueue(emits(...answerEvents(next, event)))
    enqueue({ type: 'send', params: actionMessages(next, { session_id: null, run_id: context.run_id }) })
    for (const call of busyCalls(next)) {
      const { action_id } = call
      const policy = context.tools[call.tool]?.policy ?? 'at_most_once'
      if (call.kind === 'agent') enqueue({ type: 'prepareChild', params: { action_id } })
      else enqueue({ type: 'runTool', params: { action_id, policy } })
    }
  }),
)

/** A person agreed to a call, or the caller gave its output. */
export const approved = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    const call = event.type === 'action_approved' ? callOf(context, event.action_id) : undefined
    if (event.type !== 'action_approved' || call === undefined) return
    const { action_id, output } = event
    enqueue.assign({ calls: withStatus(context, action_id, output === undefined ? 'running' : 'resolved') })
    const agreed = emission('run.action.approved', { action_id, tool: call.tool })
    enqueue(emits(agreed, ...(output === undefined ? [] : [toolCompleted(call, output)])))
    if (call.kind === 'agent') enqueue({ type: 'prepareChild', params: { action_id } })
  }),
)

/** A call has its output, or never will have one: the model hears of it and goes on. */
export const resolved = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    const call = 'action_id' in event ? callOf(context, event.action_id) : undefined
    if (call === undefined) return
    enqueue.assign({ calls: withStatus(context, call.action_id, 'resolved') })
    enqueue(emits(...resolvingEvents(call, event)))
  }),
)

const resolvingEvents = (call: RunCall, event: RunEvent): readonly Emission[] => {
  switch (event.type) {
    case 'tool_answered':
    case 'action_executed':
      return [toolCompleted(call, event.output)]
    case 'child_refused':
      return [toolCompleted(call, errorOutput(event.code, event.message))]
    case 'action_rejected':
      return [{ ...rejectedEvent(call, event.reason), ...toldOnly(event) }]
    default:
      return []
  }
}

const rejectedEvent = ({ action_id, tool }: RunCall, reason: string): Emission =>
  emission('run.action.rejected', { action_id, tool, reason })

/** The child that the model asked for is claimed. */
export const claimChild = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    if (event.type !== 'child_prepared') return
    const { action_id, child } = event
    enqueue.assign({ calls: withChild(context, action_id, child.run_id) })
    enqueue(emits(delegatedEvent(child, action_id)))
    enqueue({ type: 'send', params: claim(child) })
  }),
)

/** A child has ended; its result goes to the model. */
export const childDone = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    if (event.type !== 'child_ended') return
    const call = context.calls.find(({ child }) => child === event.run_id)
    if (call === undefined) return
    enqueue.assign({ calls: withStatus(context, call.action_id, 'resolved') })
    if (call.asked === 'caller') enqueue.assign({ told: [...context.told, toldResult(event)] })
    enqueue(emits(...childEvents(call, event)))
  }),
)

/** A caller hands work to a child. */
export const delegate = runSetup.createAction(
  enqueueActions(({ enqueue, context, event }) => {
    if (event.type !== 'delegate') return
    const { child } = event
    enqueue.assign({ calls: [...context.calls, callersCall(child)] })
    enqueue(emits(delegatedEvent(child, null)))
    enqueue({ type: 'send', params: claim(child) })
  }),
)
