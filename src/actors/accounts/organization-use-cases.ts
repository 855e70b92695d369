import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope } from '#storage/index.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import { Table } from '../records/table.ts'
import type { DashboardSessions } from './dashboard-sessions.ts'
import { members, organizations } from './kinds.ts'
import { oidcConnections } from './oidc/kinds.ts'

/** Dependencies of the use-cases of organisations. */
export interface OrganizationDeps extends Pick<Services, 'now' | 'records'> {
  readonly dashboardSessions: DashboardSessions
}

/** Use-cases of the signed-in member's organisation. */
export const organizationUseCases = (deps: OrganizationDeps): UseCasesOf<'organizations'> => {
  const memberTable = new Table(deps.records, members, deps.now)
  const oidcTable = new Table(deps.records, oidcConnections, deps.now)
  const resource = new RecordResource({
    table: new Table(deps.records, organizations, deps.now),
    idPrefix: 'org',
    view: (row) => ({
      id: row.id,
      name: row.data.name,
      require_second_factor: row.data.require_second_factor ?? false,
      require_oidc: row.data.require_oidc ?? false,
      ...rowTimes(row),
    }),
  })
  return {
    'organizations.list': ({ principal, query }) =>
      resource.list(organizationScope(memberOf(principal).organization), query),
    'organizations.update': async (call) => {
      const { organization, memberId, project } = memberOf(call.principal)
      const scope = organizationScope(organization)
      if (call.params.organization_id !== organization) throw new ServiceError('not_found')
      const member = await memberTable.get(scope, memberId)
      if (call.body.require_second_factor === true && member?.data.totp_secret === undefined)
        throw new ServiceError('invalid_transition', { message: 'Set up your own second factor first.' })
      if (call.body.require_oidc === true) {
        const providers = await oidcTable.list(scope, { limit: 100 })
        if (!providers.some(({ data }) => data.is_active))
          throw new ServiceError('invalid_transition', {
            message: 'The organization has no active provider. Add one first.',
          })
      }
      const changed = await resource.change(scope, organization, {
        edit: ({ data }) => unlessSame(data, { ...data, ...call.body }),
        notices: new Audited(call, 'organization', project).changed(),
      })
      deps.dashboardSessions.recheckAll()
      return changed
    },
  }
}
