import type { MachineDefinition, RowOf } from '../definition.ts'
import { isInState, topState } from '../state-value.ts'
import { actionMachine } from './action.ts'

const actionRow: RowOf = ({ value, context }, facts) =>
  topState(value) === 'deleted' ? null : { ...context, id: facts.id, status: topState(value) }

/** Approval-gated tool calls. */
export const actionDefinition = {
  name: 'action',
  version: 6,
  idPrefix: 'act',
  machine: actionMachine,
  effects: { runTool: 'from_params', releaseInput: 'idempotent', eraseAction: 'idempotent' },
  row: actionRow,
  gone: ({ value }) => topState(value) === 'deleted',
  busy: ({ value }) => isInState(value, 'executing'),
  migrations: {
    1: ({ value, context }) => ({ value, context: { ...context, execute: null, proposed_arguments: null } }),
    2: ({ value, context }) => ({ value, context: { ...context, connection: null } }),
    // version 4 writes the reason of a decision to the audit log
    3: (state) => state,
    4: ({ value, context }) => ({ value, context: { ...context, input: null, answer: null } }),
    // version 6 accepts events that version 5 did not
    5: (state) => state,
  },
} satisfies MachineDefinition
