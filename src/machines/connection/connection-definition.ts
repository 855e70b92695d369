import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { topState } from '../state-value.ts'
import { connectionMachine } from './connection.ts'
import { failuresShown } from './connection-data.ts'

/** A connection's status in the API; null once it is deleted. */
export const connectionStatus = ({ value, context }: StoredState) => {
  const top = topState(value)
  if (top === 'erasing') return null
  if (top === 'revoking' || top === 'revoked') return 'revoked'
  if (top === 'expired' || top === 'error' || top === 'pending') return top
  if (top === 'exchanging') return context.held === true ? 'active' : 'pending'
  return top === 'postponed' && Number(context.attempts) >= failuresShown ? 'error' : 'active'
}

/** Key of connections that are interchangeable in a turn, by which a single index lists them. */
export const useKey = ({ connector, pattern, owner_type }: StoredState['context']): string =>
  `${pattern ?? connector} ${owner_type}`

const connectionRow: RowOf = (state) => {
  const status = connectionStatus(state)
  if (status === null) return null
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
  row: connectionRow,
  gone: (state) => connectionStatus(state) === null,
  busy: ({ value }) => ['exchanging', 'refreshing'].includes(topState(value)),
  // version 2 knows which scopes are missing
  migrations: {
    1: ({ value, context }) => ({
      value,
      context: { ...context, missing_scopes: [], step_ups: 0, stepped_up_at_ms: null },
    }),
  },
} satisfies MachineDefinition
