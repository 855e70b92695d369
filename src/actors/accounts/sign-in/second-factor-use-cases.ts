import encodeQR from 'qr'
import { type MemberData, members, organizations } from '#actors/accounts/kinds.ts'
import { PasswordCheck } from '#actors/accounts/login-limits.ts'
import { memberOf } from '#actors/call/dashboard-principal.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import type { Caller } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { timestampOf, timestampOrNull } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope } from '#storage/index.ts'
import type { DashboardSessions } from '../dashboard-sessions.ts'
import { type Noted, type SecondFactors, withoutSecondFactor } from './second-factors.ts'
import { base32, otpauthUri } from './totp.ts'

/** Dependencies of the use-cases of second factors. */
export interface SecondFactorDeps extends Pick<Services, 'now' | 'records' | 'limits'> {
  readonly secondFactors: SecondFactors
  readonly dashboardSessions: DashboardSessions
}

/** Use-cases of the signed-in member's second factor. */
export const secondFactorUseCases = (deps: SecondFactorDeps): UseCasesOf<'second_factor'> => {
  const { records, now, secondFactors, dashboardSessions } = deps
  const memberTable = new Table(records, members, now)
  const organizationTable = new Table(records, organizations, now)
  const passwords = new PasswordCheck(deps.limits)
  const found = async ({ principal }: Caller): Promise<Row<MemberData>> => {
    const { organization, memberId } = memberOf(principal)
    const member = await memberTable.get(organizationScope(organization), memberId)
    if (member === null) throw new ServiceError('authentication_required')
    return member
  }
  const isRequired = async ({ principal }: Caller): Promise<boolean> => {
    const { organization } = memberOf(principal)
    const row = await organizationTable.get(organizationScope(organization), organization)
    return row?.data.require_second_factor === true
  }
  const stateOf = async (call: Caller) => {
    const [{ data }, required] = await Promise.all([found(call), isRequired(call)])
    return {
      enabled: data.totp_secret !== undefined,
      required,
      enabled_at: timestampOrNull(data.totp?.enabled_at_ms ?? null),
      recovery_codes_left: data.totp?.recovery.length ?? 0,
    }
  }
  return {
    'second_factor.get': stateOf,
    'second_factor.enrol': async (call) => {
      const member = await found(call)
      await passwords.confirm(member, call.body.password, call.remoteAddress)
      const { key, until } = await secondFactors.offer(member)
      const uri = otpauthUri(key, member.data.email)
      return { secret: base32(key), uri, qr: encodeQR(uri, 'svg'), expires_at: timestampOf(until) }
    },
    'second_factor.confirm': async (call) => {
      const codes = await secondFactors.confirm(await found(call), call.body.code, notedBy(call))
      dashboardSessions.recheckAll()
      return { recovery_codes: codes }
    },
    'second_factor.recovery_codes': async (call) => ({
      recovery_codes: await secondFactors.replaceCodes(await found(call), call.body.code, notedBy(call)),
    }),
    'second_factor.disable': async (call) => {
      const member = await found(call)
      if (await isRequired(call))
        throw new ServiceError('invalid_transition', {
          message: 'The organization requires a second factor. Its owner has to stop requiring it first.',
        })
      await passwords.confirm(member, call.body.password, call.remoteAddress)
      const noted = notedBy(call)
      await secondFactors.use(member, call.body.code, {
        noted,
        done: 'second_factor_disabled',
        change: withoutSecondFactor,
      })
      return stateOf(call)
    },
  }
}

const notedBy = (call: Caller): Noted => {
  const { memberId, project } = memberOf(call.principal)
  const audited = new Audited(call, 'member', project)
  return (done, changes) => audited.line(done, memberId, changes)
}
