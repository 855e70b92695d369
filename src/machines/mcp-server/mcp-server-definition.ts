import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { mcpServerMachine } from './mcp-server.ts'

const serverRow: RowOf = (state, { tenant, status }) => {
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
  statuses: statuses.mcp_server,
  row: serverRow,
  // version 2 notifies webhooks, version 4 waits for connections; no state changed its meaning
  migrations: {
    1: (state) => state,
    2: ({ value, context }) => ({ value, context: { ...context, lists: null } }),
    3: ({ value, context }) => ({ value, context: { ...context, awaits: null } }),
  },
} satisfies MachineDefinition
