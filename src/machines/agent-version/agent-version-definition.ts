import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { agentVersionMachine } from './agent-version.ts'

/** Key for listing an agent's versions with one status by a single index. */
export const agentStatus = (agent: string, status: string): string => `${agent} ${status}`

const agentVersionRow: RowOf = ({ context }, { id, status }) => ({
  ...context,
  id,
  status,
  agent_status: agentStatus(String(context.agent_id), status),
})

/** Versions of agents, as defined in `specs/resources/agent-versions.ts`. */
export const agentVersionDefinition = {
  name: 'agent_version',
  version: 2,
  readableBy: 1,
  idPrefix: 'agv',
  machine: agentVersionMachine,
  effects: { eraseVersion: 'idempotent' },
  statuses: statuses.agent_version,
  row: agentVersionRow,
  // version 2 takes the result of a test that ends after a draft was submitted or published
  migrations: { 1: (state) => state },
} satisfies MachineDefinition
