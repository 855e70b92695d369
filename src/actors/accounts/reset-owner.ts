import { organizationScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { Notice } from '../records/notices.ts'
import { mintSecret } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import type { DashboardSessions } from './dashboard-sessions.ts'
import { type MemberData, members, projects } from './kinds.ts'
import { hashPassword } from './passwords.ts'

/** What a reset needs. */
export interface ResetDeps {
  readonly records: RecordStore
  readonly dashboardSessions: DashboardSessions
  /** ms since the epoch. */
  readonly now: () => number
}

/**
 * Gives an owner a generated password and ends all its sessions. For an operator who reaches the store, when no owner knows
 * a password any more. The log of the organisation's first project has a line of it.
 *
 * @returns the password, which is stored nowhere; null when the e-mail address is no owner's.
 */
export const resetOwner = async (
  { records, dashboardSessions, now }: ResetDeps,
  email: string,
): Promise<string | null> => {
  const table = new Table(records, members, now)
  const member = await table.findGlobal({ email: email.trim().toLowerCase() })
  if (member === null || member.data.role !== 'owner') return null
  const password = mintSecret('')
  const password_hash = await hashPassword(password)
  const scope = organizationScope(member.project)
  const [project] = await new Table(records, projects, now).list(scope, { ascending: true, limit: 1 })
  const notice: Notice = {
    kind: 'audit',
    action: 'member.password_reset',
    by: { kind: 'system', id: null },
    resource: { type: 'member', id: member.id },
    changes: ['password_hash'],
    ...(project !== undefined && { project: project.id }),
  }
  const edit = ({ data }: { readonly data: MemberData }): MemberData => ({ ...data, password_hash })
  await table.change(scope, member.id, { edit, notices: () => [notice] })
  await dashboardSessions.closeAll(member)
  return password
}
