import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import { connectorOf, connectorTypes } from '#specs/data/connectors/connectors.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import { pageOfAll } from '../records/pages.ts'
import { timestampOrNull } from '../records/row-times.ts'
import type { ConnectorClients } from './connector-clients.ts'

export interface ConnectorParts {
  readonly clients: ConnectorClients
  /** URL to which providers redirect browsers after a sign-in. */
  readonly callbackUrl: string
}

/** Use-cases of the catalogue, and of the clients that projects have registered at its providers. */
export const connectorUseCases = ({ clients, callbackUrl }: ConnectorParts): UseCasesOf<'connectors'> => ({
  'connectors.list': async ({ scope, query }) => {
    const ids = await clients.ids(scope.project)
    const { data, next_cursor } = pageOfAll(connectorTypes, query)
    return { data: data.map((type) => connectorView(type, ids.get(type.id) ?? null)), next_cursor }
  },
  'connectors.get': async ({ scope, params }) => {
    const type = found(params.connector_id)
    const row = await clients.row(scope.project, type.id)
    return connectorView(type, row?.data.client_id ?? null)
  },
  'connectors.credentials': async (call) => {
    const { scope, params, body } = call
    const type = found(params.connector_id)
    if (type.oauth === null)
      throw new ServiceError('invalid_transition', {
        message: 'The connector uses API keys, so it has no client of the project. Create a connection with a key.',
      })
    const at = { project: scope.project, connector: type.id }
    const line = (done: string) => [new Audited(call, 'connector').line(done, type.id, Object.keys(body))]
    if (body.client_id === null) {
      await clients.remove(at.project, at.connector, line('credentials_removed'))
      return { connector: type.id, client_id: null, has_secret: false, redirect_uri: callbackUrl, updated_at: null }
    }
    const client = { id: body.client_id, secret: body.client_secret }
    const row = await clients.put(at, client, line('credentials_set'))
    return {
      connector: type.id,
      client_id: row?.data.client_id ?? null,
      has_secret: (row?.data.client_secret ?? '') !== '',
      redirect_uri: callbackUrl,
      updated_at: timestampOrNull(row?.updated_at ?? null),
    }
  },
})

const found = (id: string): ConnectorType => orNotFound(connectorOf(id))

const connectorView = (type: ConnectorType, clientId: string | null): ResultOf<'connectors.get'> => ({
  id: type.id,
  name: type.name,
  description: type.description,
  auth: type.auth,
  base_url: type.base_url,
  settings: type.settings,
  oauth: oauthView(type.oauth),
  is_configured: type.oauth === null || clientId !== null,
  client_id: clientId,
  tools: type.tools.map(({ name, description, parameters, risk_level }) => ({
    name,
    description,
    parameters,
    risk_level,
  })),
})

const oauthView = (oauth: ConnectorType['oauth']): ResultOf<'connectors.get'>['oauth'] => {
  if (oauth === null) return null
  const { authorization_url, token_url, revocation_url, issuer, scopes } = oauth
  return { authorization_url, token_url, revocation_url, issuer, scopes }
}
