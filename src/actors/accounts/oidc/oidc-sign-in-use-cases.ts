import type { Logger } from 'pino'
import { memberOf } from '#actors/call/dashboard-principal.ts'
import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, projectScope } from '#storage/index.ts'
import { installations } from '../bootstrap.ts'
import { type MemberData, members } from '../kinds.ts'
import { LoginLimits } from '../login-limits.ts'
import { sessionCookieName } from '../session-cookie.ts'
import { MemberSignIn, type MemberSignInDeps } from '../sign-in/member-sign-in.ts'
import { type OidcConnectionData, oidcConnections } from './kinds.ts'
import { OidcClients, OidcFailed } from './oidc-clients.ts'
import { type OidcFlow, OidcFlows } from './oidc-flows.ts'
import { identityOf } from './oidc-identity.ts'
import { OidcMembers, type OidcPerson, OidcRefused } from './oidc-members.ts'
import { oidcPage } from './oidc-page.ts'

/** Dependencies of the use-cases of sign-ins at providers. */
export interface OidcSignInDeps extends MemberSignInDeps, Pick<Services, 'box' | 'limits'> {
  readonly guard: Pick<Services['guard'], 'request'>
  readonly log: Pick<Logger, 'warn'>
  readonly redirectUri: (connection: string) => string
}

/** A sign-in to start. */
interface OidcStart {
  /** Id of the connection. */
  readonly id: string
  /** The member that links its account; null for a sign-in. */
  readonly by: { readonly organization: string; readonly member: string; readonly session: string } | null
  readonly returnTo: string
}

type Callback = Parameters<UseCases['oidc_sign_in.callback']>[0]

/** Use-cases of sign-ins at providers. */
export const oidcSignInUseCases = (deps: OidcSignInDeps): UseCasesOf<'oidc_sign_in'> => {
  const signIns = new OidcSignIns(deps)
  return {
    'oidc_sign_in.providers': ({ query }) => signIns.providers(query.organization),
    'oidc_sign_in.start': async ({ body: { connection_id, return_to }, remoteAddress }) =>
      signIns.start({ id: connection_id, by: null, returnTo: return_to ?? '/' }, remoteAddress),
    'oidc_sign_in.link': async ({ principal, body, remoteAddress }) => {
      const { organization, memberId: member, sessionId: session } = memberOf(principal)
      const by = { organization, member, session }
      return signIns.start({ id: body.connection_id, by, returnTo: '/' }, remoteAddress)
    },
    'oidc_sign_in.callback': (call) => signIns.ended(call),
  }
}

class OidcSignIns {
  readonly #deps: OidcSignInDeps
  readonly #connections: Table<OidcConnectionData>
  readonly #memberTable: Table<MemberData>
  readonly #clients: OidcClients
  readonly #flows: OidcFlows
  readonly #members: OidcMembers
  readonly #signIn: MemberSignIn
  readonly #limits: LoginLimits

  constructor(deps: OidcSignInDeps) {
    this.#deps = deps
    this.#connections = new Table(deps.records, oidcConnections, deps.now)
    this.#memberTable = new Table(deps.records, members, deps.now)
    this.#clients = new OidcClients(deps)
    this.#flows = new OidcFlows(deps)
    this.#members = new OidcMembers(deps)
    this.#signIn = new MemberSignIn(deps)
    this.#limits = new LoginLimits(deps.limits)
  }

  /** The active providers of an organisation: by default the one that the first start created. */
  async providers(named: string | undefined) {
    const organization = named ?? (await this.#firstOrganization())
    const rows = await this.#connections.list(organizationScope(organization), { limit: 100, ascending: true })
    return { data: rows.filter(({ data }) => data.is_active).map(({ id, data }) => ({ id, name: data.name })) }
  }

  async #firstOrganization(): Promise<string> {
    const table = new Table(this.#deps.records, installations, this.#deps.now)
    return (await table.get(projectScope('installation'), 'installation'))?.data.organization ?? ''
  }

  /** @throws {ServiceError} `not_found`, `oidc_provider_unavailable`, `rate_limit_exceeded` */
  async start({ id, by, returnTo }: OidcStart, address: string) {
    await this.#limits.attemptFrom(address)
    const connection = await this.#connections.findGlobal({ connection_id: id })
    const isForeign = by !== null && connection?.project !== by.organization
    if (connection === null || !connection.data.is_active || isForeign) throw new ServiceError('not_found')
    const { project: organization, data } = connection
    const link = by === null ? null : { member: by.member, session: by.session }
    const begun = this.#flows.begin({ organization, connection: id, issuer: data.issuer, link, returnTo })
    const redirectUri = this.#deps.redirectUri(id)
    try {
      const url = await this.#clients.authorizationUrl(connection, { ...begun, redirectUri })
      return { body: { url }, headers: [['set-cookie', begun.cookie] as const] }
    } catch (error) {
      this.#warn(error, id)
      throw new ServiceError('oidc_provider_unavailable', { cause: error })
    }
  }

  /** Ends the sign-in of a browser that returned from the provider. */
  async ended(call: Callback) {
    const { state = '' } = call.query
    const { oidc_connection_id: id } = call.params
    const flow = this.#flows.read(state, call.cookies ?? '')
    const gone = this.#flows.ended(state)
    if (flow === null || flow.connection !== id) return oidcPage(expired, [gone])
    try {
      await this.#limits.attemptFrom(call.remoteAddress)
      return oidcPage(null, [gone, ...(await this.#completed(flow, call))], flow.returnTo)
    } catch (error) {
      return oidcPage(this.#troubleOf(error, id), [gone])
    }
  }

  /** @returns `Set-Cookie` headers @throws {OidcRefused, OidcFailed} */
  async #completed(flow: OidcFlow, call: Callback): Promise<readonly string[]> {
    const { error } = call.query
    const connection = await this.#connections.get(organizationScope(flow.organization), flow.connection)
    // the provider may have been replaced since the sign-in was started
    if (connection === null || !connection.data.is_active || connection.data.issuer !== flow.issuer)
      throw new OidcRefused(expired)
    if (error !== undefined) throw new OidcRefused('The provider did not sign you in.')
    const linking = flow.link === null ? null : await this.#linking(flow, flow.link, call)
    const expected = { ...flow, state: call.query.state ?? '' }
    const claims = await this.#clients.claims(connection, this.#arrived(call), expected)
    const identity = identityOf(claims, connection.data)
    const auditOf: OidcPerson['auditOf'] = (member) => this.#signIn.audited(member, call)
    const person = { connection, identity, auditOf }
    if (linking !== null) {
      await this.#members.link(linking, person)
      return []
    }
    const member = await this.#members.of(person)
    return [await this.#signIn.open(member, call, { method: 'oidc', connection: connection.id })]
  }

  /** The URL at which a response arrived, as the provider knows it. */
  #arrived({ query, params }: Callback): URL {
    const url = new URL(this.#deps.redirectUri(params.oidc_connection_id))
    for (const name of ['state', 'code', 'iss'] as const) {
      const value = query[name]
      if (value !== undefined) url.searchParams.set(name, value)
    }
    return url
  }

  /** The member that links its account, who must still be signed in, in the same session. @throws {OidcRefused} */
  async #linking(
    { organization }: OidcFlow,
    link: { readonly member: string; readonly session: string },
    { cookies = '' }: Callback,
  ): Promise<Row<MemberData>> {
    const prefix = `${sessionCookieName(this.#deps.secureCookies)}=`
    const value = cookies.split(/; */).find((each) => each.startsWith(prefix))
    const signedIn = await this.#deps.dashboardSessions.verify(value?.slice(prefix.length) ?? '')
    const member = await this.#memberTable.get(organizationScope(organization), link.member)
    if (signedIn?.sessionId !== link.session || signedIn.memberId !== link.member || member === null)
      throw new OidcRefused('The session in which the link was started has ended.')
    return member
  }

  /** What a person is shown; the reason of a failure may contain addresses, and is only in the log. */
  #troubleOf(error: unknown, connection: string): string {
    if (error instanceof OidcRefused) return error.message
    if (error instanceof ServiceError) return error.message
    if (!(error instanceof OidcFailed)) throw error
    this.#warn(error, connection)
    return 'The answer of the provider could not be verified. An operator finds the reason in the log.'
  }

  #warn(error: unknown, connection: string): void {
    if (!(error instanceof OidcFailed)) throw error
    this.#deps.log.warn({ err: error, connection }, 'sign-in at a provider failed')
  }
}

const expired = 'The sign-in was not started in this browser, has expired or was completed before. Start again.'
