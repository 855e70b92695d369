import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { Table } from '../records/table.ts'
import { agents } from './kinds.ts'

/** Whether a project has an agent. @throws {StoreUnavailable} */
export const agentExists = ({ records, now }: { readonly records: RecordStore; readonly now: () => number }) => {
  const table = new Table(records, agents, now)
  return async (project: string, agentId: string): Promise<boolean> =>
    (await table.get(projectScope(project), agentId)) !== null
}
