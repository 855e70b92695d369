import { erasureSink } from '#machines/erasure/erasure.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { organizationScope } from '#storage/index.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { type AuditActor, actorOf, unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import type { Notice } from '../records/notices.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { type Change, Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { type ProjectData, type ProjectDeletion, projects } from './kinds.ts'
import type { ProjectDirectory } from './project-directory.ts'

/** Dependencies of the use-cases of projects. */
export interface ProjectDeps extends Pick<Services, 'now' | 'records'> {
  readonly projects: ProjectDirectory
}

/** Use-cases of the projects of the signed-in member's organisation. */
export const projectUseCases = (deps: ProjectDeps): Pick<UseCases, Extract<keyof UseCases, `projects.${string}`>> => {
  const resource = new RecordResource({
    table: new Table(deps.records, projects, deps.now),
    idPrefix: 'prj',
    view: (row) => ({
      id: row.id,
      name: row.data.name,
      allowed_origins: row.data.allowed_origins,
      memory: row.data.memory ?? {},
      knowledge: row.data.knowledge ?? {},
      return_urls: row.data.return_urls ?? [],
      remote_servers: row.data.remote_servers ?? 'any',
      skill_review_model: row.data.skill_review_model ?? null,
      status: row.data.deletion === undefined ? ('active' as const) : ('deleting' as const),
      deletion: deletionView(row.data.deletion),
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
        if (data.deletion !== undefined) throw new ServiceError('project_deleting')
        return unlessSame(data, { ...data, ...call.body })
      }
      const notices = new Audited(call, 'project', project_id).changed<ProjectData>()
      const changed = await resource.change(organizationScope(organization), project_id, { edit, notices })
      deps.projects.forget(project_id)
      return changed
    },
    'projects.delete': async (call) => {
      const { organization } = memberOf(call.principal)
      const { project_id } = call.params
      if (!(await deps.projects.hasOther(organization, project_id))) throw new ServiceError('last_project')
      const row = await resource.change(organizationScope(organization), project_id, deletionBy(call, deps.now()))
      deps.projects.forget(project_id)
      return row
    },
    'projects.create': async (call) => {
      const { organization } = memberOf(call.principal)
      const id = newIdFor(call, 'prj')
      const { name, allowed_origins, ...policy } = call.body
      const data = { ...deps.projects.newData(id, name, allowed_origins), ...policy }
      const notices = [new Audited(call, 'project', id).line('created', id)]
      return resource.create(organizationScope(organization), { id, project: organization, data, notices })
    },
  }
}

type DeletionCall = Parameters<UseCases['projects.delete']>[0]

/**
 * The change that starts a deletion. Its audit lines belong to the organisation, since those of the project are deleted
 * with it.
 */
const deletionBy = (call: DeletionCall, now: number): Change<ProjectData> => {
  const audited = new Audited(call, 'project')
  return {
    edit: ({ data }) => {
      if (call.body.name !== data.name) throw invalidField('name', 'name does not match the name of the project.')
      return data.deletion === undefined ? { ...data, deletion: { started_at_ms: now, rounds: 0, left: {} } } : null
    },
    notices: ({ id, updated_at }) => [
      audited.line('deletion_started', id),
      projectErasureNotice({ project: id, by: actorOf(call) }, updated_at),
    ],
  }
}

const deletionView = (deletion: ProjectDeletion | undefined) =>
  deletion === undefined
    ? null
    : {
        started_at: new Date(deletion.started_at_ms).toISOString(),
        rounds: deletion.rounds,
        left: { ...deletion.left },
      }

/**
 * Message that starts the erasure of a project; the erasure belongs to the organisation
 * (src/actors/tenants/erasures.ts).
 */
const projectErasureNotice = (
  { project, by }: { readonly project: string; readonly by: AuditActor },
  at: number,
): Notice => ({
  kind: 'message',
  to: erasureSink,
  event: {
    type: 'erase',
    at,
    input: { project_id: project, tenant_id: null, external_id: null, user: null, by: { ...by } },
  },
})
