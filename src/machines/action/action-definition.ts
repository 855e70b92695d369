import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition } from '../index.ts'
import { actionMachine } from './action.ts'

/** Approval-gated tool calls. */
export const actionDefinition = {
  name: 'action',
  version: 6,
  idPrefix: 'act',
  machine: actionMachine,
  effects: { runTool: 'from_params', releaseInput: 'idempotent', eraseAction: 'idempotent' },
  statuses: statuses.action,
  row: ({ context }, { id, status }) => ({ ...context, id, status }),
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
