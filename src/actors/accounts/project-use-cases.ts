import { organizationScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { UseCases } from '../call/use-cases.ts'
import { changedFields } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/ids.ts'
import { memberOf } from './dashboard-principal.ts'
import { type ProjectData, projects } from './kinds.ts'
import type { ProjectDirectory } from './project-directory.ts'

/** What the projects of an organisation need. */
export interface ProjectDeps {
  readonly records: RecordStore
  readonly projects: ProjectDirectory
  readonly now: () => number
}

/** Projects of the signed-in member's organisation. */
export const projectUseCases = (deps: ProjectDeps): Pick<UseCases, Extract<keyof UseCases, `projects.${string}`>> => {
  const resource = new RecordResource({
    table: new Table(deps.records, projects, deps.now),
    idPrefix: 'prj',
    view: (row) => ({
      id: row.id,
      name: row.data.name,
      allowed_origins: row.data.allowed_origins,
      memory: row.data.memory ?? {},
      ...rowTimes(row),
    }),
  })
  return {
    'projects.list': async ({ principal, query }) =>
      resource.list(organizationScope(memberOf(principal).organization), query),
    'projects.get': async ({ principal, params }) =>
      resource.get(organizationScope(memberOf(principal).organization), params.project_id),
    'projects.update': async (call) => {
      const { organization } = memberOf(call.principal)
      const { project_id } = call.params
      const edit = ({ data }: Row<ProjectData>): ProjectData | null => {
        const next = { ...data, ...call.body }
        return changedFields(data, next).length === 0 ? null : next
      }
      const notices = new Audited(call, 'project', project_id).changed<ProjectData>()
      const changed = await resource.change(organizationScope(organization), project_id, { edit, notices })
      deps.projects.forget(project_id)
      return changed
    },
    'projects.create': async (call) => {
      const { organization } = memberOf(call.principal)
      const id = newIdFor(call, 'prj')
      const { name, allowed_origins, memory } = call.body
      const data = { ...deps.projects.newData(id, name, allowed_origins), memory }
      const notices = [new Audited(call, 'project', id).line('created', id)]
      return resource.create(organizationScope(organization), { id, project: organization, data, notices })
    },
  }
}
