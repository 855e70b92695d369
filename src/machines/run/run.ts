import { assign } from 'xstate'
import { noUsage } from '../session/session-data.ts'
import {
  approved,
  askModel,
  auditCancelling,
  auditCreation,
  childDone,
  claimChild,
  delegate,
  failWith,
  finish,
  giveSlotBack,
  join,
  remove,
  resolved,
  runSetup,
  start,
  takeAnswer,
  unwantedSlot,
} from './run-actions.ts'
import { exceeded, noticeOf, queuedEvent, timeIsUp } from './run-steps.ts'

/** What resolves calls, alike while tools run and while people or children are waited for. */
const resolutions = {
  action_approved: { guard: 'isPending', target: '#run.open.started.running.deciding', actions: approved },
  action_rejected: { guard: 'isPending', target: '#run.open.started.running.deciding', actions: resolved },
  action_executed: { guard: 'isRunning', target: '#run.open.started.running.deciding', actions: resolved },
  tool_answered: { guard: 'isRunning', target: '#run.open.started.running.deciding', actions: resolved },
  child_prepared: { guard: 'isPrepared', target: '#run.open.started.running.deciding', actions: claimChild },
  child_refused: { guard: 'isPrepared', target: '#run.open.started.running.deciding', actions: resolved },
  child_ended: { guard: 'isChild', target: '#run.open.started.running.deciding', actions: childDone },
} as const

const refused = (code: 'invalid_transition' | 'not_found') =>
  ({ actions: { type: 'refuse', params: { code } } }) as const

/** What a run that is over still answers. */
const over = {
  cancel: refused('invalid_transition'),
  delegate: refused('invalid_transition'),
  delete: '#run.deleted',
  slot_granted: { actions: unwantedSlot },
} as const

/**
 * One background run of an agent: model calls and tools until the model has nothing more to ask (interface "Run").
 *
 * It works only while it has a slot of its queue, which it gives back while people (`requires_action`) or its children
 * (`waiting`) are waited for, and asks for again (`returning`) afterwards. `open.started.running.deciding` is passed
 * through. Its end is one commit: the log, the slot, its actions and children, its parent and the webhooks hear of it.
 */
export const runMachine = runSetup.createMachine({
  id: 'run',
  context: ({ input }) => ({
    ...input,
    slot: false,
    started: false,
    steps: 0,
    calls: [],
    told: [],
    usage: noUsage,
    output: null,
    error: null,
  }),
  initial: 'open',
  states: {
    open: {
      initial: 'queued',
      after: { expiry: { target: '#run.expired', actions: finish('expired') } },
      on: {
        cancel: { target: '#run.cancelled', actions: [finish('cancelled'), auditCancelling] },
        expire: { target: '#run.expired', actions: finish('expired') },
        delete: remove,
        slot_granted: { guard: 'lacksSlot', actions: unwantedSlot },
      },
      states: {
        queued: {
          entry: [
            { type: 'emit', params: ({ context }) => ({ events: [queuedEvent(context)] }) },
            { type: 'notify', params: ({ context }) => noticeOf(context, 'run.queued') },
            join,
            auditCreation,
          ],
          on: {
            slot_granted: { target: 'started', actions: start },
            delegate: refused('invalid_transition'),
          },
        },
        started: {
          initial: 'running',
          after: { duration: { target: '#run.failed', actions: [...failWith(() => timeIsUp)] } },
          on: {
            delegate: [
              // asked again: the child is there
              { guard: 'isClaimed' },
              { guard: 'isTooDeep', actions: { type: 'refuse', params: { code: 'delegation_too_deep' } } },
              { guard: 'hasTooManyChildren', actions: { type: 'refuse', params: { code: 'too_many_children' } } },
              { actions: delegate },
            ],
            child_ended: { guard: 'isChild', actions: childDone },
          },
          states: {
            running: {
              initial: 'thinking',
              states: {
                thinking: {
                  entry: askModel,
                  on: {
                    model_answered: [
                      {
                        guard: 'answersFinally',
                        target: '#run.completed',
                        actions: [takeAnswer, assign({ output: ({ event }) => event.delta }), finish('completed')],
                      },
                      { target: 'deciding', actions: takeAnswer },
                    ],
                    model_failed: {
                      target: '#run.failed',
                      actions: [
                        assign({ error: ({ event }) => ({ code: event.code, message: event.message }) }),
                        finish('failed'),
                      ],
                    },
                  },
                },
                acting: { on: resolutions },
                waiting: { entry: giveSlotBack, on: resolutions },
                deciding: {
                  always: [
                    { guard: 'someAreBusy', target: 'acting' },
                    { guard: 'someWait', target: '#run.open.started.requires_action' },
                    { guard: 'someAreDelegated', target: 'waiting' },
                    { guard: 'isExhausted', target: '#run.failed', actions: [...failWith(exceeded)] },
                    { guard: 'hasSlot', target: 'thinking' },
                    { target: 'returning' },
                  ],
                },
                returning: {
                  entry: join,
                  on: { slot_granted: { target: 'thinking', actions: runSetup.assign({ slot: true }) } },
                },
              },
            },
            requires_action: {
              entry: [
                giveSlotBack,
                { type: 'notify', params: ({ context }) => noticeOf(context, 'run.requires_action') },
              ],
              on: resolutions,
            },
          },
        },
      },
    },
    completed: { on: over },
    failed: { on: over },
    cancelled: { on: { delegate: over.delegate, delete: over.delete, slot_granted: over.slot_granted } },
    expired: { on: over },
    deleted: {
      entry: { type: 'eraseRun', params: ({ context }) => ({ run_id: context.run_id }) },
      on: {
        cancel: refused('not_found'),
        delegate: refused('not_found'),
        delete: refused('not_found'),
        slot_granted: { actions: unwantedSlot },
      },
    },
  },
})
