import { memberOf } from '#actors/call/dashboard-principal.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope } from '#storage/index.ts'
import type { DashboardSessions } from '../dashboard-sessions.ts'
import { organizations } from '../kinds.ts'
import { clientSecretAad, type OidcConnectionData, oidcConnections } from './kinds.ts'

/** Dependencies of the use-cases of sign-in providers. */
export interface OidcConnectionDeps extends Pick<Services, 'now' | 'records' | 'box'> {
  readonly dashboardSessions: DashboardSessions
  readonly redirectUri: (connection: string) => string
}

/** Use-cases of the providers of an organisation. */
export const oidcConnectionUseCases = (deps: OidcConnectionDeps): UseCasesOf<'oidc_connections'> => {
  const table = new Table(deps.records, oidcConnections, deps.now)
  const resource = new RecordResource({
    table,
    idPrefix: 'oic',
    view: (row: Row<OidcConnectionData>) => {
      const { client_secret, connection_id: _own, ...shown } = row.data
      const redirect_uri = deps.redirectUri(row.id)
      return { id: row.id, ...shown, has_client_secret: client_secret !== null, redirect_uri, ...rowTimes(row) }
    },
  })
  const sealed = (id: string, issuer: string, secret: string | null | undefined): string | null =>
    secret == null ? null : deps.box.seal(JSON.stringify([issuer, secret]), clientSecretAad(id))
  return {
    'oidc_connections.list': ({ principal, query }) =>
      resource.list(organizationScope(memberOf(principal).organization), query),
    'oidc_connections.create': async (call) => {
      const { organization, project } = memberOf(call.principal)
      const { client_secret, ...given } = call.body
      const id = newIdFor(call, 'oic')
      const data = { ...given, connection_id: id, client_secret: sealed(id, given.issuer, client_secret) }
      const notices = [audited(call, project).line('created', id)]
      return resource.create(organizationScope(organization), { id, project: organization, data, notices })
    },
    'oidc_connections.update': async (call) => {
      const { organization, project } = memberOf(call.principal)
      const { client_secret, ...given } = call.body
      const { oidc_connection_id: id } = call.params
      if (given.is_active === false) await requireOther(deps, organization, id)
      const edit = ({ data }: Row<OidcConnectionData>): OidcConnectionData => {
        const next = { ...data, ...given }
        if (client_secret !== undefined) return { ...next, client_secret: sealed(id, next.issuer, client_secret) }
        return next.issuer === data.issuer ? next : { ...next, client_secret: null }
      }
      const notices = audited(call, project).changed<OidcConnectionData>()
      const changed = await resource.change(organizationScope(organization), id, { edit, notices })
      deps.dashboardSessions.recheckAll()
      return changed
    },
    'oidc_connections.delete': async (call) => {
      const { organization, project } = memberOf(call.principal)
      const { oidc_connection_id: id } = call.params
      const scope = organizationScope(organization)
      await resource.get(scope, id)
      await requireOther(deps, organization, id)
      const removed = await resource.remove(scope, id, audited(call, project).removed())
      deps.dashboardSessions.recheckAll()
      return removed
    },
  }
}

const audited = (call: ConstructorParameters<typeof Audited>[0], project: string): Audited =>
  new Audited(call, 'oidc_connection', project)

/**
 * Refuses what would leave an organisation that requires a sign-in at a provider without any.
 *
 * @throws {ServiceError} `invalid_transition`
 */
const requireOther = async ({ records, now }: OidcConnectionDeps, organization: string, id: string): Promise<void> => {
  const scope = organizationScope(organization)
  const row = await new Table(records, organizations, now).get(scope, organization)
  if (row?.data.require_oidc !== true) return
  const others = await new Table(records, oidcConnections, now).list(scope, { limit: 100 })
  if (others.some((each) => each.id !== id && each.data.is_active)) return
  throw new ServiceError('invalid_transition', {
    message: 'The organization requires a sign-in at its only provider. Add another one, or stop requiring it, first.',
  })
}
