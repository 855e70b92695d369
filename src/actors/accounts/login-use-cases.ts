import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { organizationScope, type RateLimits, type RecordStore } from '#storage/index.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { memberOf } from './dashboard-principal.ts'
import { type DashboardSessions, dashboardSessionS } from './dashboard-sessions.ts'
import { type MemberData, members, organizations } from './kinds.ts'
import { LoginLimits, originOf } from './login-limits.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { endedSessionCookie, sessionCookie } from './session-cookie.ts'

/** Dependencies of the use-cases of sign-in. */
export interface AuthDeps {
  readonly records: RecordStore
  readonly dashboardSessions: DashboardSessions
  /** Whether the dashboard is served over https; then its cookie is only sent over https. */
  readonly secureCookies: boolean
  readonly now: () => number
  /** Counts failed logins. */
  readonly limits: RateLimits
}

/** Use-cases of the dashboard's sign-in, sign-out and password change. */
export const authUseCases = (deps: AuthDeps): UseCasesOf<'auth'> => {
  const { dashboardSessions, secureCookies } = deps
  const limits = new LoginLimits(deps.limits)
  const memberTable = new Table(deps.records, members, deps.now)
  const identify = identityReader(deps)
  return {
    'auth.login': async ({ body, remoteAddress }) => {
      const email = body.email.trim().toLowerCase()
      await limits.attempt(email, remoteAddress)
      const member = await memberTable.findGlobal({ email })
      const right = await verifyPassword(member?.data.password_hash ?? null, {
        password: body.password,
        origin: originOf(remoteAddress),
      })
      if (member === null || !right) throw new ServiceError('invalid_credentials')
      await limits.succeeded(email, remoteAddress)
      const cookie = sessionCookie(await dashboardSessions.open(member), dashboardSessionS, secureCookies)
      return { body: await identify(member), headers: [['set-cookie', cookie]] }
    },
    'auth.logout': async ({ principal }) => {
      const { organization, sessionId } = memberOf(principal)
      await dashboardSessions.close(organization, sessionId)
      return { body: { success: true }, headers: [['set-cookie', endedSessionCookie(secureCookies)]] }
    },
    'auth.change_password': async (call) => {
      const { organization, memberId, sessionId, project } = memberOf(call.principal)
      const scope = organizationScope(organization)
      const member = await memberTable.get(scope, memberId)
      if (member === null) throw new ServiceError('authentication_required')
      const { email } = member.data
      // limits the guesses of the holder of a stolen cookie
      await limits.attempt(email, call.remoteAddress)
      const attempt = { password: call.body.password, origin: originOf(call.remoteAddress) }
      if (!(await verifyPassword(member.data.password_hash, attempt)))
        throw new ServiceError('invalid_credentials', { param: 'password' })
      await limits.succeeded(email, call.remoteAddress)
      const password_hash = await hashPassword(call.body.new_password)
      const notices = () => [new Audited(call, 'member', project).line('password_changed', memberId)]
      const kept_session = { id: sessionId, password: dashboardSessions.markOf(password_hash) }
      await memberTable.change(scope, memberId, {
        edit: ({ data }) => ({ ...data, password_hash, kept_session }),
        notices,
      })
      await dashboardSessions.closeAll(member, sessionId)
      return { success: true }
    },
    'auth.me': async ({ principal }) => {
      const { organization, memberId } = memberOf(principal)
      const member = await memberTable.get(organizationScope(organization), memberId)
      if (member === null) throw new ServiceError('authentication_required')
      return identify(member)
    },
  }
}

const identityReader = ({ records, now }: AuthDeps) => {
  const table = new Table(records, organizations, now)
  return async (member: Row<MemberData>): Promise<ResultOf<'auth.me'>> => {
    const { id, project: organization, data } = member
    const row = await table.get(organizationScope(organization), organization)
    return {
      member: { id, email: data.email, name: data.name, role: data.role },
      organization: { id: organization, name: row?.data.name ?? '' },
    }
  }
}
