import { type DashboardSessions, dashboardSessionS } from '#actors/accounts/dashboard-sessions.ts'
import { type DashboardSessionData, members } from '#actors/accounts/kinds.ts'
import { memberOf } from '#actors/call/dashboard-principal.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes, timestampOf } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope } from '#storage/index.ts'

/** Dependencies of the use-cases of dashboard sessions. */
export interface SessionDeps extends Pick<Services, 'now' | 'records'> {
  readonly dashboardSessions: DashboardSessions
}

const viewOf = (row: Row<DashboardSessionData>) => {
  const end = row.expires_at ?? row.created_at
  return {
    id: row.id,
    member_id: row.data.member_id,
    method: row.data.method ?? ('password' as const),
    device: row.data.device ?? null,
    address_family: row.data.address_family ?? null,
    // a use moves the end
    last_used_at: timestampOf(end - dashboardSessionS * 1000),
    expires_at: timestampOf(end),
    ...rowTimes(row),
  }
}

/** Use-cases of the sessions of members: each sees and ends its own, an owner those of every member. */
export const sessionUseCases = ({ records, now, dashboardSessions }: SessionDeps): UseCasesOf<'auth_sessions'> => {
  const memberTable = new Table(records, members, now)
  const { table } = dashboardSessions
  const resource = new RecordResource({ table, idPrefix: 'dse', view: viewOf })
  return {
    'auth_sessions.list': async ({ principal, query: { member_id, ...page } }) => {
      const { organization, memberId, sessionId, role } = memberOf(principal)
      const of = member_id ?? memberId
      if (of !== memberId && role !== 'owner') throw new ServiceError('forbidden')
      const { data, next_cursor } = await resource.list(organizationScope(organization), {
        ...page,
        where: { member_id: of },
      })
      return { data: data.map((each) => ({ ...each, is_current: each.id === sessionId })), next_cursor }
    },
    'auth_sessions.delete': async (call) => {
      const { organization, memberId, role, project } = memberOf(call.principal)
      const scope = organizationScope(organization)
      const { auth_session_id: id } = call.params
      const row = await table.get(scope, id)
      // those of others are unknown to a member
      if (row === null || (row.data.member_id !== memberId && role !== 'owner')) throw new ServiceError('not_found')
      const notices = () => [new Audited(call, 'member', project).line('session_ended', row.data.member_id)]
      // before it ends: a repeat after a crash would not find it
      await memberTable.notify(scope, row.data.member_id, notices)
      await dashboardSessions.close(organization, id)
      return { id, deleted: true }
    },
  }
}
