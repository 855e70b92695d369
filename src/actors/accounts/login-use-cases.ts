import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, type RateLimits } from '#storage/index.ts'
import { memberOf } from '../call/dashboard-principal.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { permitsPassword } from './dashboard-sessions.ts'
import { type MemberData, members, organizations } from './kinds.ts'
import { PasswordCheck } from './login-limits.ts'
import { hashPassword } from './passwords.ts'
import { endedSessionCookie } from './session-cookie.ts'
import { identityReader, MemberSignIn, type MemberSignInDeps } from './sign-in/member-sign-in.ts'
import type { SecondFactors } from './sign-in/second-factors.ts'

/** Dependencies of the use-cases of sign-in. */
export interface AuthDeps extends MemberSignInDeps {
  readonly secondFactors: SecondFactors
  /** Counts failed logins. */
  readonly limits: RateLimits
}

/** Use-cases of the dashboard's sign-in, sign-out and password change. */
export const authUseCases = (deps: AuthDeps): UseCasesOf<'auth'> => {
  const { dashboardSessions, secureCookies } = deps
  const passwords = new PasswordCheck(deps.limits)
  const memberTable = new Table(deps.records, members, deps.now)
  const signIn = new MemberSignIn(deps)
  const identify = identityReader(deps)
  const prove = passwordProof(deps, signIn)
  return {
    'auth.login': async (call) => {
      const { body, remoteAddress } = call
      const email = body.email.trim().toLowerCase()
      const attempt = { email, password: body.password, remoteAddress }
      const member = await memberTable.findGlobal({ email })
      const complete = await passwords.require(member?.data.password_hash ?? null, attempt)
      if (member === null) throw new ServiceError('invalid_credentials')
      await prove(member, call)
      await complete()
      const cookie = await signIn.open(member, call, { method: 'password', connection: null })
      return { body: await identify(member), headers: [['set-cookie', cookie]] }
    },
    'auth.logout': async ({ principal }) => {
      const { organization, sessionId } = memberOf(principal)
      await dashboardSessions.close(organization, sessionId)
      return { body: { success: true }, headers: [['set-cookie', endedSessionCookie(secureCookies)]] }
    },
    'auth.end_other_sessions': async (call) => {
      const { organization, memberId, sessionId, project } = memberOf(call.principal)
      const notices = () => [new Audited(call, 'member', project).line('other_sessions_ended', memberId)]
      // before they end: a repeat after a crash would find none
      await memberTable.notify(organizationScope(organization), memberId, notices)
      return { ended: await dashboardSessions.closeAll({ id: memberId, project: organization }, sessionId) }
    },
    'auth.change_password': async (call) => {
      const { organization, memberId, sessionId, project } = memberOf(call.principal)
      const scope = organizationScope(organization)
      const member = await memberTable.get(scope, memberId)
      if (member === null) throw new ServiceError('authentication_required')
      await passwords.confirm(member, call.body.password, call.remoteAddress)
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

type LoginCall = Parameters<UseCasesOf<'auth'>['auth.login']>[0]

/**
 * Returns a check of what a sign-in needs beyond the right password.
 *
 * @throws {ServiceError} `oidc_sign_in_required`, `second_factor_required`, and as `SecondFactors.use`
 */
const passwordProof = ({ records, now, secondFactors }: AuthDeps, signIn: MemberSignIn) => {
  const table = new Table(records, organizations, now)
  return async (member: Row<MemberData>, call: LoginCall): Promise<void> => {
    const organization = await table.get(organizationScope(member.project), member.project)
    if (!permitsPassword(organization, member)) throw new ServiceError('oidc_sign_in_required')
    if (member.data.totp_secret === undefined) return
    if (call.body.code === undefined) throw new ServiceError('second_factor_required', { param: 'code' })
    const audited = await signIn.audited(member, call)
    await secondFactors.use(member, call.body.code, {
      noted: (done, changes) => audited.line(done, member.id, changes),
    })
  }
}
