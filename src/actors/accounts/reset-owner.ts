import { organizationScope } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import type { Notice } from '../records/notices.ts'
import { mintSecret } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import type { DashboardSessions } from './dashboard-sessions.ts'
import { type MemberData, members, projects } from './kinds.ts'
import { hashPassword } from './passwords.ts'
import { withoutSecondFactor } from './sign-in/second-factors.ts'

/** Dependencies of `resetOwner`. */
export interface ResetDeps extends Pick<Services, 'now' | 'records'> {
  readonly dashboardSessions: DashboardSessions
}

/**
 * Sets a generated password for an owner and ends all of the owner's sessions. A second factor stays, unless its removal
 * is requested. It is for an operator with access to the
 * store, when no owner knows a password any more. The reset is recorded in the audit log of the organisation's first
 * project.
 *
 * @returns the password, which is not stored; null when the e-mail address is not that of an owner.
 */
export const resetOwner = async (
  { records, dashboardSessions, now }: ResetDeps,
  email: string,
  { removesSecondFactor = false }: { readonly removesSecondFactor?: boolean } = {},
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
    changes: ['password_hash', ...(removesSecondFactor ? ['totp_secret'] : [])],
    ...(project !== undefined && { project: project.id }),
  }
  const edit = ({ data }: { readonly data: MemberData }): MemberData => ({
    ...(removesSecondFactor ? withoutSecondFactor(data) : data),
    password_hash,
  })
  await table.change(scope, member.id, { edit, notices: () => [notice] })
  await dashboardSessions.closeAll(member)
  return password
}
