import { memberOf } from '#actors/call/dashboard-principal.ts'
import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes, timestampOrNull } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { newIdFor } from '#runtime/internal.ts'
import { roles } from '#specs/access.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import {
  type AuthorizationParams,
  type AuthorizationRequest,
  readRequest,
  redirectOf,
  resourceOf,
} from './authorization-request.ts'
import type { OAuthGrantData } from './kinds.ts'
import type { OAuthClient, OAuthClients } from './oauth-clients.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuthGrants } from './oauth-grants.ts'
import { redirectTo } from './redirect-uris.ts'

/** Dependencies of the use-cases of apps' access. */
export interface OAuthDeps {
  readonly oauthClients: OAuthClients
  readonly oauthGrants: OAuthGrants
  /** The server's origin as browsers see it; null: that of the page. */
  readonly publicOrigin: string | null
}

type OAuthUseCases = Pick<
  UseCases,
  'oauth_consents.preview' | 'oauth_consents.create' | 'oauth_grants.list' | 'oauth_grants.delete'
>

type Given = AuthorizationParams & { readonly origin: string }

/** A request of a known client. `outcome`: what can be granted, or the refusal that the client is sent. */
interface Considered {
  readonly client: OAuthClient
  readonly redirectUri: string
  readonly outcome: AuthorizationRequest | OAuthError
}

const viewOf = (row: Row<OAuthGrantData>) => ({
  id: row.id,
  client_name: row.data.client_name,
  client_id: row.data.client_id,
  member_id: row.data.member_id,
  scopes: row.data.scopes,
  last_used_at: timestampOrNull(row.data.last_used_at_ms),
  expires_at: timestampOrNull(row.expires_at),
  ...rowTimes(row),
})

/** Use-cases of the consent page, and of the access that members granted. */
export const oauthUseCases = ({ oauthClients, oauthGrants, publicOrigin }: OAuthDeps): OAuthUseCases => {
  const resource = new RecordResource({ table: oauthGrants.table, idPrefix: 'ogr', view: viewOf })
  const issuerOf = ({ origin }: Given): string => publicOrigin ?? origin
  const consider = async (given: Given): Promise<Considered> => {
    const client = await oauthClients.find(given.client_id ?? '').catch(asInvalid)
    const redirectUri = redirectOf(given, client)
    // never sent anywhere: the address is not one that the client is known by
    if (redirectUri === null)
      throw invalidField(
        'redirect_uri',
        'The app does not have this redirect_uri, so that the request may be from someone else.',
      )
    return { client, redirectUri, outcome: outcomeOf(given, { redirectUri, issuer: issuerOf(given) }) }
  }
  const answerTo = (given: Given, redirectUri: string, answer: Readonly<Record<string, string>>): string =>
    redirectTo(redirectUri, { ...answer, state: given.state, iss: issuerOf(given) })
  const refusalTo = (given: Given, redirectUri: string, { code, message }: OAuthError): string =>
    answerTo(given, redirectUri, { error: code, error_description: message })
  return {
    'oauth_consents.preview': async ({ body }) => {
      const { client, redirectUri, outcome } = await consider(body)
      const { id, name, host } = client
      const { protocol, host: target } = new URL(redirectUri)
      const isRefused = outcome instanceof OAuthError
      return {
        client: { id, name, host, redirect: target === '' ? protocol : target },
        scopes: isRefused ? [] : [...outcome.scopes],
        error: isRefused ? { code: outcome.code, message: outcome.message } : null,
        redirect_to: isRefused ? refusalTo(body, redirectUri, outcome) : null,
      }
    },
    'oauth_consents.create': async (call) => {
      const { body } = call
      const { client, redirectUri, outcome } = await consider(body)
      const denied = new OAuthError('access_denied', 'The member denied the access.')
      const refusal = outcome instanceof OAuthError ? outcome : body.decision === 'deny' ? denied : null
      if (refusal !== null || outcome instanceof OAuthError)
        return { redirect_to: refusalTo(body, redirectUri, refusal ?? denied) }
      const granted = { id: newIdFor(call, 'ogr'), client, request: outcome, resource: resourceOf(issuerOf(body)) }
      const audited = new Audited(call, 'oauth_grant')
      const code = await oauthGrants.grant(memberOf(call.principal), granted, (id) => [audited.line('created', id)])
      await oauthClients.keep(client)
      return { redirect_to: answerTo(body, redirectUri, { code }) }
    },
    'oauth_grants.list': ({ scope, query }) => resource.list(scope, query),
    'oauth_grants.delete': async (call) => {
      const { memberId, role } = memberOf(call.principal)
      const { grant_id: id } = call.params
      const row = orNotFound(await oauthGrants.table.get(call.scope, id))
      if (row.data.member_id !== memberId && roles.indexOf(role) < roles.indexOf('admin'))
        throw new ServiceError('forbidden', { message: 'Members revoke only what they granted themselves.' })
      if (!(await oauthGrants.end(call.scope, id, new Audited(call, 'oauth_grant').removed())))
        throw new ServiceError('not_found')
      return { id, deleted: true }
    },
  }
}

/** @throws {ServiceError} `invalid_field` for a client that is not known */
const asInvalid = (error: unknown): never => {
  if (!(error instanceof OAuthError)) throw error
  throw new ServiceError('invalid_field', { param: 'client_id', message: error.message, cause: error })
}

const outcomeOf = (given: Given, known: Parameters<typeof readRequest>[1]): AuthorizationRequest | OAuthError => {
  try {
    return readRequest(given, known)
  } catch (error) {
    if (error instanceof OAuthError) return error
    throw error
  }
}
