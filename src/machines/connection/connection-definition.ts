import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf, StoredState } from '../index.ts'
import { connectionMachine } from './connection.ts'

/** Key of connections that are interchangeable in a turn, by which a single index lists them. */
const useKey = ({ connector, pattern, owner_type }: StoredState['context']): string =>
  `${pattern ?? connector} ${owner_type}`

const connectionRow: RowOf = (state, { status }) => {
  const {
    connection_id: _id,
    delay_ms: _wait,
    attempts: _tries,
    waiters: _waiting,
    code: _code,
    step_ups: _stepUps,
    stepped_up_at_ms: _since,
    ...context
  } = state.context
  return { ...context, status, use_key: useKey(state.context) }
}

/** Connections, as defined in `specs/resources/connections/connections.ts`. */
export const connectionDefinition = {
  name: 'connection',
  version: 2,
  idPrefix: 'con',
  machine: connectionMachine,
  effects: {
    exchangeCode: 'idempotent',
    refreshToken: 'idempotent',
    revokeGrant: 'idempotent',
    eraseConnection: 'idempotent',
  },
  statuses: statuses.connection,
  row: connectionRow,
  // version 2 knows which scopes are missing
  migrations: {
    1: ({ value, context }) => ({
      value,
      context: { ...context, missing_scopes: [], step_ups: 0, stepped_up_at_ms: null },
    }),
  },
} satisfies MachineDefinition
