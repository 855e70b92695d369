import { initialTransition, setup, transition } from 'xstate'
import type { CallEvent, OpenCall, ProgressEvent } from '../session/session-data.ts'
import { shownInput } from './required-input.ts'

/** The properties that determine the first status of a call. */
export type CallTraits = {
  /** False when no tool has this name, or policy denies it: the output is an error. */
  readonly runs: boolean
  /** Whether a person has to approve first. */
  readonly gated: boolean
  /**
   * Who runs it. `caller_later`: the caller after the end of a session's turn; `caller_now`: the caller while the run
   * waits.
   */
  readonly by: 'server' | 'caller_now' | 'caller_later'
}

/** All events of a call; a run's delegations are calls too. */
export type ToolCallEvent =
  | CallEvent
  | ProgressEvent
  | { readonly type: 'child_ended' | 'child_refused' }
  /** The caller's next turn includes the outputs of deferred calls. */
  | { readonly type: 'turn' }

/** A call's status, as stored in the context of its session or run. */
export type CallStatus = OpenCall['status']

/**
 * One tool call of a model's answer. Sessions and runs store the status of each call in their context, and every change
 * of it is a step of this chart. A call is not an actor: it begins and ends with its turn.
 * `pending` waits for a person, for input or for a connection (in a run also for the caller's output), `running` is run
 * by the server, `deferred` waits for the caller's next turn, `resolved` has its output.
 */
export const toolCallMachine = setup({
  types: {
    context: {} as CallTraits,
    input: {} as CallTraits,
    events: {} as ToolCallEvent,
  },
  guards: {
    neverRuns: ({ context }) => !context.runs,
    waitsForPerson: ({ context }) => context.gated || context.by === 'caller_now',
    isTheCallers: ({ context }) => context.by === 'caller_later',
    bringsOutput: ({ event }) => event.type === 'action_approved' && event.output !== undefined,
  },
}).createMachine({
  id: 'tool_call',
  context: ({ input }) => input,
  initial: 'requested',
  states: {
    requested: {
      always: [
        { guard: 'neverRuns', target: 'resolved' },
        { guard: 'waitsForPerson', target: 'pending' },
        { guard: 'isTheCallers', target: 'deferred' },
        { target: 'running' },
      ],
    },
    pending: {
      on: {
        action_approved: [{ guard: 'bringsOutput', target: 'resolved' }, { target: 'running' }],
        action_rejected: 'resolved',
      },
    },
    running: {
      on: {
        connection_required: 'pending',
        input_required: 'pending',
        tool_answered: 'resolved',
        action_executed: 'resolved',
        child_ended: 'resolved',
        child_refused: 'resolved',
      },
    },
    deferred: { on: { turn: 'resolved' } },
    resolved: { type: 'final' },
  },
})

const anyTraits: CallTraits = { runs: true, gated: false, by: 'server' }

/** Returns the first status of a call. */
export const firstStatus = (traits: CallTraits): CallStatus => {
  const [{ value }] = initialTransition(toolCallMachine, traits)
  return value === 'requested' ? 'resolved' : value
}

/** Returns the status after an event; null when a call in this status does not accept it. */
export const nextStatus = (status: CallStatus, event: ToolCallEvent): CallStatus | null => {
  if (status === 'resolved') return null
  const before = toolCallMachine.resolveState({ value: status, context: anyTraits })
  const [after] = transition(toolCallMachine, before, event)
  return after === before || after.value === 'requested' ? null : after.value
}

/** Whether the call that an event names is open and accepts the event. */
export const takes = (
  { calls }: { readonly calls: readonly OpenCall[] },
  event: ToolCallEvent & { readonly action_id: string },
): boolean => calls.some(({ action_id, status }) => action_id === event.action_id && nextStatus(status, event) !== null)

/** Returns `calls` after an event of one of them. */
export const callsAfter = <Call extends OpenCall>(
  { calls }: { readonly calls: readonly Call[] },
  action_id: string,
  event: ToolCallEvent,
): readonly Call[] =>
  calls.map((call) =>
    call.action_id === action_id
      ? { ...call, ...editsOf(event), status: nextStatus(call.status, event) ?? call.status }
      : call,
  )

/** The fields of a call that an event changes: edited arguments, and what it waits for. */
const editsOf = (event: ToolCallEvent): Partial<Pick<OpenCall, 'arguments' | 'connection' | 'input' | 'actioned'>> => {
  if (event.type === 'connection_required') return { connection: event.connection, actioned: true }
  if (event.type === 'input_required') return { input: shownInput(event.input), actioned: true }
  if (event.type !== 'action_approved') return {}
  if (event.answered !== undefined) return { input: null }
  const edits = event.arguments === undefined ? {} : { arguments: event.arguments }
  return event.connected === true ? { ...edits, connection: null } : edits
}
