import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { isInState } from '../state-value.ts'
import { mcpServerMachine } from './mcp-server.ts'

/** A server's status in the API; null once it is deleted. */
export const serverStatus = ({
  value,
}: Pick<StoredState, 'value'>): 'discovering' | 'active' | 'failing' | 'disabled' | null => {
  if (value === 'erasing') return null
  if (value === 'disabled') return 'disabled'
  if (isInState(value, 'enabled', 'active')) return 'active'
  return isInState(value, 'enabled', 'discovering') ? 'discovering' : 'failing'
}

const serverRow: RowOf = (state, { tenant }) => {
  const status = serverStatus(state)
  if (status === null) return null
  const {
    server_id: _id,
    tools: _snapshot,
    changes: _diff,
    lists: _lists,
    attempts: _tries,
    awaits: _awaits,
    ...context
  } = state.context
  return { ...context, tenant_id: tenant, status }
}

/** Remote tool servers, as defined in `specs/resources/mcp/mcp-servers.ts`. */
export const mcpServerDefinition = {
  name: 'mcp_server',
  version: 4,
  idPrefix: 'mcp',
  machine: mcpServerMachine,
  effects: { discoverTools: 'idempotent', eraseServer: 'idempotent' },
  row: serverRow,
  gone: (state) => serverStatus(state) === null,
  busy: (state) => serverStatus(state) === 'discovering',
  // version 2 notifies webhooks, version 4 waits for connections; no state changed its meaning
  migrations: {
    1: (state) => state,
    2: ({ value, context }) => ({ value, context: { ...context, lists: null } }),
    3: ({ value, context }) => ({ value, context: { ...context, awaits: null } }),
  },
} satisfies MachineDefinition
