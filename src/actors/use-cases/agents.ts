import type { RecordStore } from '../../storage/ports.ts'
import { newIdFor } from '../ids.ts'
import { agents } from '../records/kinds.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import type { UseCases } from './use-cases.ts'

type AgentUseCases = Pick<UseCases, 'agents.list' | 'agents.create' | 'agents.get'>

/** Gateway agents: a name and what sessions and runs take from its config. */
export const agentUseCases = ({ records, now }: { records: RecordStore; now: () => number }): AgentUseCases => {
  const resource = new RecordResource({
    table: new Table(records, agents, now),
    idPrefix: 'agt',
    view: (row) => ({ id: row.id, ...row.data, ...rowTimes(row) }),
  })
  return {
    'agents.list': ({ scope, query }) => resource.list(scope, query),
    'agents.get': ({ scope, params }) => resource.get(scope, params.agent_id),
    'agents.create': (call) => {
      const { name, description, config } = call.body
      const data = { name, description: description ?? null, config }
      return resource.create(call.scope, { id: newIdFor(call, 'agt'), project: call.scope.project, data })
    },
  }
}
