import type { Refusal } from '../declared.ts'
import type { At } from '../index.ts'
import {
  approved,
  auditCancelling,
  beginWait,
  callModel,
  clearCalls,
  completeTurn,
  endEffects,
  failTurn,
  progressed,
  rejected,
  restart,
  retriesLatest,
  runUngatedTools,
  sessionSetup,
  startTurn,
  takeAnswer,
  takeCompaction,
  takeDelta,
  takeFailure,
  takeHistory,
  takeReasoning,
  toolDone,
  withdrawActions,
} from './session-actions.ts'
import { noUsage, type SessionContext, type SessionEvent } from './session-data.ts'
import { maxModelCalls } from './session-steps.ts'

type TurnAt = At<SessionContext, Extract<SessionEvent, { readonly type: 'turn' }>>

const sessionId = ({ context }: { readonly context: SessionContext }) => ({ session_id: context.session_id })

const acceptTurn = { guard: 'knowsResults', target: '#session.active.working', actions: startTurn } as const

const expiry = { target: '#session.expired', actions: { type: 'endMemory', params: sessionId } } as const

const cancelTurn = {
  target: '#session.active.idle',
  actions: [failTurn('cancelled', 'The turn was cancelled.'), withdrawActions, clearCalls, auditCancelling],
} as const

const refusedTurn = ({ context, event }: TurnAt): Refusal =>
  retriesLatest(context, event)
    ? { code: 'not_found', param: 'tool_results' }
    : { code: 'invalid_transition', param: 'retry_of', message: 'Only the latest turn can be retried.' }
const nothingToCancel: Refusal = { code: 'no_turn_in_progress' }
const notFound: Refusal = { code: 'not_found' }

/** Decisions of people, which are handled alike while tools run and while the session is paused. */
const decisions = {
  action_approved: { guard: 'isOpenCall', target: '#session.active.working.deciding', actions: approved },
  action_rejected: { guard: 'isOpenCall', target: '#session.completed', actions: rejected },
} as const

/** Events that resolve calls while tools run. */
const resolutions = {
  ...decisions,
  action_executed: { guard: 'isOpenCall', target: '#session.active.working.deciding', actions: toolDone },
  tool_answered: { guard: 'isOpenCall', target: '#session.active.working.deciding', actions: toolDone },
  connection_required: { guard: 'isOpenCall', target: '#session.active.working.deciding', actions: beginWait },
  input_required: { guard: 'isOpenCall', target: '#session.active.working.deciding', actions: beginWait },
} as const

/**
 * A durable conversation with an agent; its turns stream, pause for approvals and resume (sessions.create).
 * `active.working` is a turn in progress: `thinking` has a model call in flight, `acting` has tools in flight,
 * `deciding` is transient. `paused` only waits for people: nothing is in flight and nothing is billed. Each call of the
 * model's answer has a chart of its own (src/machines/tool-call/tool-call.ts).
 * A rejected call leaves the session `completed`, from where a further turn makes it active again. `expired`, which both
 * become without activity, is shown as completed too, but accepts no turn (specs/decisions/0001-sessions.md).
 */
export const sessionMachine = sessionSetup.createMachine({
  id: 'session',
  context: ({ input: { fork, ...input } }) => ({
    ...input,
    ...(fork !== undefined && { forked_from: fork.from }),
    turn: fork?.from.turn_number ?? 0,
    steps: 0,
    model: '',
    config: {},
    tools: {},
    calls: [],
    usage: noUsage,
    total_cost: '0',
  }),
  initial: 'active',
  entry: takeHistory,
  meta: { refuses: { turn: refusedTurn, cancel: nothingToCancel } },
  on: { delete: '#session.deleted' },
  states: {
    active: {
      meta: { status: 'active' },
      initial: 'idle',
      states: {
        idle: {
          after: { inactivity: [{ guard: 'hadTurns', ...expiry }, { target: '#session.expired' }] },
          on: { turn: acceptTurn },
        },
        working: {
          tags: 'busy',
          initial: 'thinking',
          meta: { refuses: { turn: { code: 'turn_in_progress' } } },
          exit: endEffects,
          on: { cancel: cancelTurn },
          states: {
            thinking: {
              entry: callModel,
              on: {
                model_delta: { actions: takeDelta },
                model_reasoned: { actions: takeReasoning },
                model_restarted: { actions: restart },
                context_compacted: { actions: takeCompaction },
                model_answered: [
                  { guard: 'answersFinally', target: '#session.active.idle', actions: [...takeAnswer, completeTurn] },
                  { target: 'deciding', actions: [...takeAnswer, runUngatedTools] },
                ],
                model_failed: { target: '#session.active.idle', actions: takeFailure },
              },
            },
            acting: {
              on: { ...resolutions, tool_progressed: { guard: 'isRunningCall', actions: progressed } },
            },
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
      meta: { status: 'paused', refuses: { turn: ({ context }) => approvalPending(context) } },
      on: { ...decisions, cancel: cancelTurn },
    },
    completed: { meta: { status: 'completed' }, after: { inactivity: expiry }, on: { turn: acceptTurn } },
    expired: { meta: { status: 'completed', refuses: { turn: { code: 'session_expired' } } } },
    deleted: {
      type: 'final',
      meta: { refuses: { turn: notFound, cancel: notFound, delete: notFound } },
      entry: [
        { type: 'abort', params: { effects: ['writeCheckpoint', 'endMemory'] } },
        withdrawActions,
        { type: 'eraseSession', params: sessionId },
      ],
    },
  },
})

const approvalPending = ({ calls }: SessionContext): Refusal => {
  const waiting = calls.filter((call) => call.status === 'pending').map((call) => call.action_id)
  return { code: 'approval_pending', message: `The session waits for the approval of ${waiting.join(', ')}.` }
}
