import type { LimitSubjects } from '#gateway/limits/limit-use-cases.ts'
import { projectScope, type RecordKind, type RecordStore } from '#storage/index.ts'
import { agentKeys, projectKeys } from '../accounts/kinds.ts'
import { rowOf } from '../records/schema.ts'
import { tenants } from './kinds.ts'

/** Looks up the tenants and keys of a project for which limits can be set. */
export const limitSubjects = (records: Pick<RecordStore, 'get'>): LimitSubjects => {
  const has = async (kind: RecordKind, project: string, id: string): Promise<boolean> =>
    (await records.get(kind, projectScope(project), id)) !== null
  return {
    tenantStatus: async (project, id) => {
      const row = await records.get(tenants, projectScope(project), id)
      return row === null ? null : rowOf(tenants, row).data.status
    },
    hasKey: async (project, id) => (await has(projectKeys, project, id)) || has(agentKeys, project, id),
  }
}
