import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { Audited } from '#records/audited.ts'
import { timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import { type RoutingPolicyData, routingPolicies } from './kinds.ts'
import type { ProjectProviders } from './project-providers.ts'

/** Dependencies of {routingPolicyUseCases}. */
export interface PolicyParts extends Pick<Services, 'now' | 'records'> {
  readonly own: Pick<ProjectProviders, 'changed'>
}

/** Policy of a project that never changed it. */
export const defaultPoolPolicy: RoutingPolicyData = { strategy: 'priority', sticky: true }

/** Returns the id of a project's row. */
export const routingPolicyId = (project: string): string => `rtp_${project.slice(project.indexOf('_') + 1)}`

/** Use-cases that read and change how calls are spread over the provider connections of a project. */
export const routingPolicyUseCases = ({ records, own, now }: PolicyParts): UseCasesOf<'routing_policy'> => {
  const table = new Table(records, routingPolicies, now)
  return {
    'routing_policy.get': async ({ scope: { project } }) =>
      view(await table.get(projectScope(project), routingPolicyId(project))),
    'routing_policy.update': async (call) => {
      const { project } = call.scope
      const id = routingPolicyId(project)
      await table.insert({ id, project, data: defaultPoolPolicy })
      const change = {
        edit: ({ data }: Row<RoutingPolicyData>) => ({ ...data, ...call.body }),
        notices: new Audited(call, 'routing_policy').changed<RoutingPolicyData>(),
      }
      const row = await table.change(projectScope(project), id, change)
      own.changed(project)
      if (row === null) throw new ServiceError('version_conflict')
      return view(row)
    },
  }
}

const view = (row: Row<RoutingPolicyData> | null): ResultOf<'routing_policy.get'> => ({
  ...(row?.data ?? defaultPoolPolicy),
  updated_at: row === null ? null : timestampOf(row.updated_at),
})
