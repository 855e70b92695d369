import type { Refusal } from '../declared.ts'
import { noUsage } from '../session/session-data.ts'
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

const child_ended = { guard: 'isChild', target: deciding, actions: childDone } as const

/** Decisions of people, which are handled alike while tools run and while the run waits for them. */
const decisions = {
  action_approved: [
    { guard: 'isDelegation', target: deciding, actions: approvedDelegation },
    { guard: 'isOpenCall', target: deciding, actions: approved },
  ],
  action_rejected: { guard: 'isOpenCall', target: deciding, actions: resolved },
  child_ended,
} as const

/** Events that resolve calls while tools run. */
const resolutions = {
  ...decisions,
  action_executed: { guard: 'isOpenCall', target: deciding, actions: resolved },
  tool_answered: { guard: 'isOpenCall', target: deciding, actions: resolved },
  connection_required: { guard: 'isOpenCall', target: deciding, actions: beginWait },
  input_required: { guard: 'isOpenCall', target: deciding, actions: beginWait },
  child_prepared: { guard: 'isPrepared', target: deciding, actions: claimChild },
  child_refused: { guard: 'isPrepared', target: deciding, actions: resolved },
} as const

const notFound: Refusal = { code: 'not_found' }
const invalid: Refusal = { code: 'invalid_transition' }

/** Events that an ended run still accepts. */
const over = { delete: '#run.deleted', slot_granted: { actions: unwantedSlot } } as const

/**
 * One background run of an agent: model calls and tools until the model requests nothing more (`runs.create`).
 * A run works only while it has a slot of its queue. It returns the slot while people (`requires_action`) or its
 * children (`waiting`) are awaited, and requests one again (`returning`) afterwards. `open.started.running.deciding` is
 * transient. Its end is one commit, which writes the log, returns the slot, and notifies its actions, children, parent
 * and webhooks.
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
      meta: { status: 'running' },
      tags: 'busy',
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
          meta: { status: 'queued' },
          entry: create,
          on: { slot_granted: { target: 'started', actions: start } },
        },
        started: {
          initial: 'running',
          after: { duration: { target: '#run.failed', actions: failWith(() => timeIsUp) } },
          meta: {
            refuses: {
              // a repeated request: the child exists already
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
                waiting: { entry: giveSlotBack, on: { child_ended } },
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
              meta: { status: 'requires_action' },
              entry: [
                ...giveSlotBack,
                { type: 'notify', params: ({ context }) => noticeOf(context, 'run.requires_action') },
              ],
              on: decisions,
            },
          },
        },
      },
    },
    completed: { meta: { status: 'completed' }, entry: finish('completed'), on: over },
    failed: { meta: { status: 'failed' }, entry: finish('failed'), on: over },
    cancelled: { meta: { status: 'cancelled', refuses: { cancel: null } }, entry: finish('cancelled'), on: over },
    expired: { meta: { status: 'expired' }, entry: finish('expired'), on: over },
    // not a final state, so that a slot granted meanwhile can be returned
    deleted: {
      meta: { status: null, refuses: { cancel: notFound, delegate: notFound, delete: notFound } },
      entry: { type: 'eraseRun', params: ({ context }) => ({ run_id: context.run_id }) },
      on: { slot_granted: { actions: unwantedSlot } },
    },
  },
})
