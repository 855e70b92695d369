import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, type Scope } from '#storage/index.ts'
import type { Principal } from '../call/call.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { type Caller, unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { type Change, Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { DashboardSessions } from './dashboard-sessions.ts'
import { type MemberData, members } from './kinds.ts'
import { hashPassword } from './passwords.ts'
import { withoutSecondFactor } from './sign-in/second-factors.ts'

/** Dependencies of the use-cases of members. */
export interface ProjectMemberDeps extends Pick<Services, 'now' | 'records'> {
  readonly dashboardSessions: DashboardSessions
}

const viewOf = (row: Row<MemberData>) => ({
  id: row.id,
  email: row.data.email,
  name: row.data.name,
  role: row.data.role,
  has_second_factor: row.data.totp_secret !== undefined,
  has_oidc: row.data.oidc !== undefined,
  ...rowTimes(row),
})

/** Use-cases of the members of the project's organisation. Each of them is a member of all its projects. */
export const projectMemberUseCases = (deps: ProjectMemberDeps): UseCasesOf<'project_members'> => {
  const table = new Table(deps.records, members, deps.now)
  const resource = new RecordResource({
    table,
    idPrefix: 'usr',
    view: viewOf,
    uniqueField: 'email',
  })
  return {
    'project_members.list': async ({ principal, query }) => resource.list(scopeOf(principal), query),
    'project_members.create': async (call) => {
      const { principal, body } = call
      const { organization } = memberOf(principal)
      const data = {
        email: body.email.trim().toLowerCase(),
        name: body.name ?? null,
        role: body.role,
        password_hash: await hashPassword(body.password),
      }
      const id = newIdFor(call, 'usr')
      const notices = [auditedIn(call).line('created', id)]
      return resource.create(scopeOf(principal), { id, project: organization, data, notices })
    },
    'project_members.update': async (call) => {
      const { password, email, ...plain } = call.body
      const scope = scopeOf(call.principal)
      const member = orNotFound(await table.get(scope, call.params.member_id))
      const address = email?.trim().toLowerCase()
      if (address !== undefined && (await isTaken(table, address, member.id)))
        throw new ServiceError('already_exists', { param: 'email' })
      const fields = {
        ...plain,
        ...(address !== undefined && { email: address }),
        ...(password !== undefined && { password_hash: await hashPassword(password) }),
      }
      const change = { edit: changedBy(fields), notices: auditedIn(call).changed<MemberData>() }
      if (member.data.role === 'owner' && (plain.role ?? 'owner') !== 'owner') await demote(table, member, change)
      const changed = await resource.change(scope, member.id, change)
      if (password !== undefined) await deps.dashboardSessions.closeAll(member)
      deps.dashboardSessions.recheckAll()
      return changed
    },
    'project_members.reset_second_factor': async (call) => {
      const changed = await resource.change(scopeOf(call.principal), call.params.member_id, resetBy(call))
      deps.dashboardSessions.recheckAll()
      return changed
    },
    'project_members.unlink_oidc': async (call) => {
      const changed = await resource.change(scopeOf(call.principal), call.params.member_id, unlinkBy(call))
      await deps.dashboardSessions.closeAll({ id: changed.id, project: memberOf(call.principal).organization })
      return changed
    },
    'project_members.delete': async (call) => {
      await removeMember(table, call, call.params.member_id)
      deps.dashboardSessions.recheckAll()
      return { id: call.params.member_id, deleted: true }
    },
  }
}

/** The change by which a member loses its second factor. */
const resetBy = (caller: Caller): Change<MemberData> => ({
  edit: ({ data }) => (data.totp_secret === undefined ? null : withoutSecondFactor(data)),
  notices: ({ id }) => [auditedIn(caller).line('second_factor_reset', id)],
})

/** The change by which a member loses its account at a provider. */
const unlinkBy = (caller: Caller): Change<MemberData> => ({
  edit: ({ data: { oidc, ...rest } }) => (oidc === undefined ? null : rest),
  notices: ({ id }) => [auditedIn(caller).line('oidc_unlinked', id)],
})

const isTaken = async (table: Table<MemberData>, email: string, by: string): Promise<boolean> => {
  const holder = await table.findGlobal({ email })
  return holder !== null && holder.id !== by
}

/** An edit that sets these fields; it returns null when nothing changes, so that no change is audited. */
const changedBy =
  (fields: Partial<MemberData>) =>
  ({ data }: Row<MemberData>): MemberData | null =>
    unlessSame(data, { ...data, ...fields })

/**
 * A member belongs to the organisation; changes are recorded in the audit log of the project in which they were
 * requested.
 */
const auditedIn = (caller: Caller): Audited => new Audited(caller, 'member', memberOf(caller.principal).project)

const scopeOf = (principal: Principal): Scope => organizationScope(memberOf(principal).organization)

/** Removes a member, but never the last owner. */
const removeMember = async (table: Table<MemberData>, caller: Caller, id: string): Promise<void> => {
  const scope = scopeOf(caller.principal)
  const member = orNotFound(await table.get(scope, id))
  const demotion = { edit: changedBy({ role: 'admin' }) }
  if (member.data.role === 'owner') await demote(table, member, demotion)
  if (!(await table.remove(scope, id, auditedIn(caller).removed()))) throw new ServiceError('not_found')
}

/**
 * Applies a change by which a member ceases to be an owner. The number of owners is checked again afterwards, and the
 * change is undone if none is left. So of two owners who demote each other at the same time both remain owners.
 */
export const demote = async (
  table: Table<MemberData>,
  { id, project, data: before }: Row<MemberData>,
  change: Change<MemberData>,
): Promise<void> => {
  const scope = organizationScope(project)
  const owners = () => table.count(scope, { role: 'owner' })
  if ((await owners()) < 2) throw lastOwner()
  await table.change(scope, id, change)
  if ((await owners()) > 0) return
  await table.change(scope, id, { ...change, edit: () => before })
  throw lastOwner()
}

const lastOwner = (): ServiceError =>
  new ServiceError('invalid_transition', {
    message: 'The last owner of an organisation cannot be removed. Make another member its owner first.',
  })
