import type { MachineDefinition, RowOf } from '../definition.ts'
import { agentVersionMachine } from './agent-version.ts'

/** What the list of an agent's versions in one state filters on: one index for both. */
export const agentStatus = (agent: string, status: string): string => `${agent} ${status}`

const agentVersionRow: RowOf = ({ value, context }, facts) => {
  const status = String(value)
  if (status === 'deleted') return null
  return { ...context, id: facts.id, status, agent_status: agentStatus(String(context.agent_id), status) }
}

/** Versions of agents: `specs/resources/agent-versions.ts` is their interface. */
export const agentVersionDefinition = {
  name: 'agent_version',
  version: 1,
  idPrefix: 'agv',
  machine: agentVersionMachine,
  effects: { eraseVersion: 'idempotent' },
  row: agentVersionRow,
  gone: ({ value }) => value === 'deleted',
  busy: () => false,
  migrations: {},
} satisfies MachineDefinition
