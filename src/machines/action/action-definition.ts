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
    // the audit log has the reason of a decision
    3: (state) => state,
    4: ({ value, context }) => ({ value, context: { ...context, input: null, answer: null } }),
    // it takes what it did not take before
    5: (state) => state,
  },
} satisfies MachineDefinition
