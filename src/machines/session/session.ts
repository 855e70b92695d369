import { enqueueActions, setup } from 'xstate'
import {
  actionMessages,
  addCost,
  addUsage,
  isCall,
  someCall,
  toldOnly,
  withdrawals,
  withStatus,
} from '../tool-calls.ts'
import { vocabulary } from '../vocabulary.ts'
import { noUsage, type SessionContext, type SessionEvent, type SessionInput, type TurnUsage } from './session-data.ts'
import {
  answerEvents,
  checkpointEvery,
  completion,
  deltaEvents,
  emission,
  failure,
  maxModelCalls,
  openCalls,
  toolCompleted,
  waitingEvents,
} from './session-steps.ts'

const sessionSetup = setup({
  types: {
    context: {} as SessionContext,
    input: {} as SessionInput,
    events: {} as SessionEvent,
  },
  actions: {
    ...vocabulary,
    callModel: (_: unknown, _params: { turn: number; step: number }) => {},
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
    writeCheckpoint: (_: unknown, _params: { turn: number }) => {},
    eraseSession: (_: unknown, _params: { session_id: string }) => {},
  },
  guards: {
    knowsResults: ({ context, event }) =>
      event.type === 'turn' && event.tool_results.every((result) => isCall(context, result.action_id, 'deferred')),
    isPending: ({ context, event }) => 'action_id' in event && isCall(context, event.action_id, 'pending'),
    isRunning: ({ context, event }) => 'action_id' in event && isCall(context, event.action_id, 'running'),
    someRun: ({ context }) => someCall(context, 'running'),
    someWait: ({ context }) => someCall(context, 'pending'),
    someAreTheCallers: ({ context }) => someCall(context, 'deferred'),
    answersFinally: ({ event }) => event.type === 'model_answered' && event.calls.length === 0,
    mayCallModel: ({ context }) => context.steps < maxModelCalls,
  },
  delays: { inactivity: 7 * 24 * 60 * 60 * 1000 },
})

const startTurn = sessionSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type !== 'turn') return
    const { input, tool_results, model } = event
    enqueue.assign(({ context }) => ({
      turn: context.turn + 1,
      steps: 0,
      model,
      config: event.config,
      tools: event.tools,
      calls: [],
      usage: noUsage,
    }))
    const results = tool_results.length > 0 ? { tool_results } : {}
    enqueue({
      type: 'emit',
      params: ({ context }) => ({
        events: [
          emission(context, 'turn.started', { turn_number: context.turn, model, input_text: input, ...results }),
        ],
      }),
    })
  }),
)

const spend = (context: SessionContext, usage: TurnUsage): Partial<SessionContext> => ({
  usage: addUsage(context.usage, usage),
  total_cost: addCost(context.total_cost, usage),
})

const takeAnswer = sessionSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type !== 'model_answered') return
    enqueue.assign(({ context }) => ({
      ...spend(context, event.usage),
      calls: openCalls(context, event.calls),
    }))
    enqueue({ type: 'emit', params: ({ context }) => ({ events: answerEvents(context, event.delta, event.calls) }) })
    enqueue({ type: 'send', params: ({ context }) => actionMessages(context, waiterOf(context)) })
  }),
)

const waiterOf = ({ session_id }: SessionContext) => ({ session_id, run_id: null })

const runUngatedTools = sessionSetup.createAction(
  enqueueActions(({ enqueue, context }) => {
    for (const call of context.calls.filter((each) => each.status === 'running')) {
      const policy = context.tools[call.tool]?.policy ?? 'at_most_once'
      enqueue({ type: 'runTool', params: { action_id: call.action_id, policy } })
    }
  }),
)

const completeTurn = sessionSetup.createAction(
  enqueueActions(({ enqueue, context }) => {
    enqueue({ type: 'emit', params: { events: [completion(context)] } })
    if (context.turn % checkpointEvery === 0) enqueue({ type: 'writeCheckpoint', params: { turn: context.turn } })
  }),
)

const endEffects = { type: 'abort', params: { effects: ['callModel', 'runTool'] } } as const

const failTurn = (code: string, message: string) =>
  ({
    type: 'emit',
    params: ({ context }: { context: SessionContext }) => ({ events: [failure(context, code, message)] }),
  }) as const

const withdrawActions = {
  type: 'send',
  params: ({ context }: { context: SessionContext }) => withdrawals(context),
} as const

const clearCalls = sessionSetup.assign({ calls: [] })

const acceptTurn = [
  { guard: 'knowsResults', target: '#session.active.working', actions: startTurn },
  { actions: { type: 'refuse', params: { code: 'not_found', param: 'tool_results' } } },
] as const

const refuseTurn = { actions: { type: 'refuse', params: { code: 'turn_in_progress' } } } as const
const nothingToCancel = { actions: { type: 'refuse', params: { code: 'no_turn_in_progress' } } } as const
const erase = { target: '#session.deleted' } as const

const cancelTurn = {
  target: '#session.active.idle',
  actions: [endEffects, failTurn('cancelled', 'The turn was cancelled.'), withdrawActions, clearCalls],
} as const

const approved = sessionSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type !== 'action_approved') return
    const { action_id, output } = event
    enqueue.assign(({ context }) => ({
      calls: withStatus(context, action_id, output === undefined ? 'running' : 'resolved'),
    }))
    const payload = { action_id, resolution: 'approved', ...(output !== undefined && { output }) }
    enqueue({
      type: 'emit',
      params: ({ context }) => ({
        events: [emission(context, 'turn.resumed', payload), ...waitingEvents(context, action_id)],
      }),
    })
  }),
)

const rejected = sessionSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type !== 'action_rejected') return
    const { action_id, reason } = event
    enqueue.assign(({ context }) => ({ calls: withStatus(context, action_id, 'resolved') }))
    enqueue(endEffects)
    enqueue(withdrawActions)
    enqueue({
      type: 'emit',
      params: ({ context }) => ({
        events: [
          { ...emission(context, 'turn.resumed', { action_id, resolution: 'rejected', reason }), ...toldOnly(event) },
          completion({ ...context, calls: [] }),
        ],
      }),
    })
    enqueue(clearCalls)
  }),
)

const toolDone = sessionSetup.createAction(
  enqueueActions(({ enqueue, event }) => {
    if (event.type !== 'tool_answered' && event.type !== 'action_executed') return
    const { action_id, output } = event
    enqueue.assign(({ context }) => ({ calls: withStatus(context, action_id, 'resolved') }))
    enqueue({ type: 'emit', params: ({ context }) => ({ events: [toolCompleted(context, action_id, output)] }) })
  }),
)

/** What resolves calls, alike while tools run and while the session is paused. */
const resolutions = {
  action_approved: { guard: 'isPending', target: '#session.active.working.deciding', actions: approved },
  action_rejected: { guard: 'isPending', target: '#session.completed', actions: rejected },
  action_executed: { guard: 'isRunning', target: '#session.active.working.deciding', actions: toolDone },
  tool_answered: { guard: 'isRunning', target: '#session.active.working.deciding', actions: toolDone },
} as const

/**
 * A durable conversation with an agent; its turns stream, pause for approvals and resume (interface "Session").
 *
 * `active.working` is one turn in progress: `thinking` has a model call in flight, `acting` has tools in flight,
 * `deciding` is passed through. `paused` waits for people only: nothing is in flight and nothing is billed.
 * A rejected turn leaves the session `completed`, from where a further turn makes it active again; `expired` shows as
 * completed too but takes none (specs/decisions/0001-sessions.md).
 */
export const sessionMachine = sessionSetup.createMachine({
  id: 'session',
  context: ({ input }) => ({
    ...input,
    turn: 0,
    steps: 0,
    model: '',
    config: {},
    tools: {},
    calls: [],
    usage: noUsage,
    total_cost: '0',
  }),
  initial: 'active',
  on: { delete: erase },
  states: {
    active: {
      initial: 'idle',
      states: {
        idle: {
          after: { inactivity: '#session.expired' },
          on: { turn: acceptTurn, cancel: nothingToCancel },
        },
        working: {
          initial: 'thinking',
          on: { turn: refuseTurn, cancel: cancelTurn },
          states: {
            thinking: {
              entry: [
                sessionSetup.assign({ steps: ({ context }) => context.steps + 1, calls: [] }),
                { type: 'callModel', params: ({ context }) => ({ turn: context.turn, step: context.steps }) },
              ],
              on: {
                model_delta: {
                  actions: {
                    type: 'emit',
                    params: ({ context, event }) => ({ events: deltaEvents(context, event.delta) }),
                  },
                },
                model_answered: [
                  { guard: 'answersFinally', target: '#session.active.idle', actions: [takeAnswer, completeTurn] },
                  { target: 'deciding', actions: [takeAnswer, runUngatedTools] },
                ],
                model_failed: {
                  target: '#session.active.idle',
                  actions: {
                    type: 'emit',
                    params: ({ context, event }) => ({
                      events: [...deltaEvents(context, event.delta), failure(context, event.code, event.message)],
                    }),
                  },
                },
              },
            },
            acting: { on: resolutions },
            deciding: {
              always: [
                { guard: 'someRun', target: 'acting' },
                { guard: 'someWait', target: '#session.paused' },
                { guard: 'someAreTheCallers', target: '#session.active.idle', actions: completeTurn },
                { guard: 'mayCallModel', target: 'thinking' },
                {
                  target: '#session.active.idle',
                  actions: [
                    failTurn('too_many_steps', `A turn makes at most ${maxModelCalls} model calls.`),
                    clearCalls,
                  ],
                },
              ],
            },
          },
        },
      },
    },
    paused: {
      on: {
        ...resolutions,
        turn: {
          actions: {
            type: 'refuse',
            params: ({ context }) => ({
              code: 'approval_pending',
              message: `The session waits for the approval of ${waitingIds(context)}.`,
            }),
          },
        },
        cancel: cancelTurn,
      },
    },
    completed: { on: { turn: acceptTurn, cancel: nothingToCancel } },
    expired: {
      on: { turn: { actions: { type: 'refuse', params: { code: 'session_expired' } } }, cancel: nothingToCancel },
    },
    deleted: {
      entry: [
        { type: 'abort', params: { effects: ['callModel', 'runTool', 'writeCheckpoint'] } },
        withdrawActions,
        { type: 'eraseSession', params: ({ context }) => ({ session_id: context.session_id }) },
      ],
      on: {
        turn: { actions: { type: 'refuse', params: { code: 'not_found' } } },
        cancel: { actions: { type: 'refuse', params: { code: 'not_found' } } },
        delete: { actions: { type: 'refuse', params: { code: 'not_found' } } },
      },
    },
  },
})

const waitingIds = (context: SessionContext): string =>
  context.calls
    .filter((call) => call.status === 'pending')
    .map((call) => call.action_id)
    .join(', ')
