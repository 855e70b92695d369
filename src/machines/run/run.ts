import { noUsage } from '../session/session-data.ts'
import type { Refusal } from '../vocabulary.ts'
import {
  approved,
  approvedDelegation,
  auditCancelling,
  beginWait,
  callModel,
  childDone,
  claimChild,
  create,
  delegate,
  endEffects,
  failWith,
  finish,
  giveSlotBack,
  join,
  keepOutput,
  modelFailed,
  progressed,
  remember,
  remove,
  resolved,
  runSetup,
  start,
  takeAnswer,
  takeCompaction,
  unwantedSlot,
} from './run-actions.ts'
import { delegationRefusal, exceeded, isClaimed, noticeOf, timeIsUp } from './run-steps.ts'

const deciding = '#run.open.started.running.deciding'

/** What resolves calls, alike while tools run and while people or children are waited for. */
const resolutions = {
  action_approved: [
    { guard: 'isDelegation', target: deciding, actions: approvedDelegation },
    { guard: 'isOpenCall', target: deciding, actions: approved },
  ],
  action_rejected: { guard: 'isOpenCall', target: deciding, actions: resolved },
  action_executed: { guard: 'isOpenCall', target: deciding, actions: resolved },
  tool_answered: { guard: 'isOpenCall', target: deciding, actions: resolved },
  connection_required: { guard: 'isOpenCall', target: deciding, actions: beginWait },
  input_required: { guard: 'isOpenCall', target: deciding, actions: beginWait },
  child_prepared: { guard: 'isPrepared', target: deciding, actions: claimChild },
  child_refused: { guard: 'isPrepared', target: deciding, actions: resolved },
  child_ended: { guard: 'isChild', target: deciding, actions: childDone },
} as const

const notFound: Refusal = { code: 'not_found' }
const invalid: Refusal = { code: 'invalid_transition' }

/** What a run that is over still takes. */
const over = { delete: '#run.deleted', slot_granted: { actions: unwantedSlot } } as const

/**
 * One background run of an agent: model calls and tools until the model requests nothing more (`runs.create`).
 *
 * It works only while it has a slot of its queue, which it gives back while people (`requires_action`) or its children
 * (`waiting`) are waited for, and requests again (`returning`) afterwards. `open.started.running.deciding` is passed
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
  meta: { refuses: { cancel: invalid, delegate: invalid } },
  states: {
    open: {
      initial: 'queued',
      after: { expiry: '#run.expired' },
      exit: endEffects,
      on: {
        cancel: { target: '#run.cancelled', actions: auditCancelling },
        expire: '#run.expired',
        delete: remove,
        slot_granted: { guard: 'lacksSlot', actions: unwantedSlot },
      },
      states: {
        queued: {
          entry: create,
          on: { slot_granted: { target: 'started', actions: start } },
        },
        started: {
          initial: 'running',
          after: { duration: { target: '#run.failed', actions: failWith(() => timeIsUp) } },
          meta: {
            refuses: {
              // requested again: the child is there
              delegate: ({ context, event }) => (isClaimed(context, event.child) ? null : delegationRefusal(context)),
            },
          },
          on: {
            delegate: { guard: 'mayDelegate', actions: delegate },
            child_ended: { guard: 'isChild', actions: childDone },
          },
          states: {
            running: {
              initial: 'thinking',
              states: {
                thinking: {
                  entry: callModel,
                  on: {
                    model_answered: [
                      {
                        guard: 'answersFinally',
                        target: '#run.completed',
                        actions: [...takeAnswer, keepOutput, remember],
                      },
                      { target: 'deciding', actions: takeAnswer },
                    ],
                    context_compacted: { actions: takeCompaction },
                    model_failed: { target: '#run.failed', actions: modelFailed },
                  },
                },
                acting: {
                  on: { ...resolutions, tool_progressed: { guard: 'isRunningCall', actions: progressed } },
                },
                waiting: { entry: giveSlotBack, on: resolutions },
                deciding: {
                  always: [
                    { guard: 'someAreBusy', target: 'acting' },
                    { guard: 'someWait', target: '#run.open.started.requires_action' },
                    { guard: 'someAreDelegated', target: 'waiting' },
                    { guard: 'isExhausted', target: '#run.failed', actions: failWith(exceeded) },
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
                ...giveSlotBack,
                { type: 'notify', params: ({ context }) => noticeOf(context, 'run.requires_action') },
              ],
              on: resolutions,
            },
          },
        },
      },
    },
    completed: { entry: finish('completed'), on: over },
    failed: { entry: finish('failed'), on: over },
    cancelled: { entry: finish('cancelled'), meta: { refuses: { cancel: null } }, on: over },
    expired: { entry: finish('expired'), on: over },
    // not final: a slot that was granted meanwhile is given back
    deleted: {
      meta: { refuses: { cancel: notFound, delegate: notFound, delete: notFound } },
      entry: { type: 'eraseRun', params: ({ context }) => ({ run_id: context.run_id }) },
      on: { slot_granted: { actions: unwantedSlot } },
    },
  },
})
