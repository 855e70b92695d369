import { isIP } from 'node:net'
import type { Call } from '#actors/call/call.ts'
import type { DashboardPrincipal } from '#actors/call/dashboard-principal.ts'
import { Audited } from '#records/audited.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import type { ResultOf } from '#specs/index.ts'
import { organizationScope, type RecordStore } from '#storage/index.ts'
import { type DashboardSessions, dashboardSessionS, type SignInPlace } from '../dashboard-sessions.ts'
import { type MemberData, members, organizations } from '../kinds.ts'
import type { ProjectDirectory } from '../project-directory.ts'
import { sessionCookie } from '../session-cookie.ts'
import { deviceName } from './device-name.ts'

/** Dependencies of `MemberSignIn`. */
export interface MemberSignInDeps {
  readonly records: RecordStore
  readonly dashboardSessions: DashboardSessions
  readonly projects: ProjectDirectory
  /** Whether the dashboard is served over https; then its cookie is only sent over https. */
  readonly secureCookies: boolean
  readonly now: () => number
}

/** The request of a sign-in. */
type SignInCall = Pick<Call<unknown, unknown, unknown>, 'remoteAddress' | 'userAgent'>

/** Signs members in whose identity has been proven. */
export class MemberSignIn {
  readonly #deps: MemberSignInDeps
  readonly #members: Table<MemberData>

  constructor(deps: MemberSignInDeps) {
    this.#deps = deps
    this.#members = new Table(deps.records, members, deps.now)
  }

  /** Opens a session and writes the audit entry. @returns the `Set-Cookie` header */
  async open(
    member: Row<MemberData>,
    call: SignInCall,
    by: Pick<SignInPlace, 'method' | 'connection'>,
  ): Promise<string> {
    const { dashboardSessions, secureCookies } = this.#deps
    const family = isIP(call.remoteAddress)
    const place = {
      ...{ ...by, device: deviceName(call.userAgent) },
      address_family: family === 0 ? null : (`ipv${family === 6 ? 6 : 4}` as const),
    }
    const value = await dashboardSessions.open(member, place)
    const audited = await this.audited(member, call)
    await this.#members.notify(organizationScope(member.project), member.id, () => [
      audited.line('signed_in', member.id, [by.method]),
    ])
    return sessionCookie(value, dashboardSessionS, secureCookies)
  }

  /** Builds the audit entries of a member's own sign-in, in the log of the organisation's first project. */
  async audited(
    member: Pick<Row<MemberData>, 'id' | 'project' | 'data'>,
    { remoteAddress }: SignInCall,
  ): Promise<Audited> {
    const { id: memberId, project: organization, data } = member
    const project = (await this.#deps.projects.first(organization)) ?? ''
    const identified = { organization, memberId, sessionId: '', role: data.role, project }
    const principal: DashboardPrincipal = { kind: 'dashboard', ...identified }
    return new Audited({ principal, remoteAddress }, 'member', project)
  }
}

/** Returns a reader of who a member is, as responses show it. */
export const identityReader = ({ records, now }: Pick<MemberSignInDeps, 'records' | 'now'>) => {
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
