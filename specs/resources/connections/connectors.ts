import { secretKeyOnly, secretKeyOrDashboard } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'

const endpoint = nullable(string())

const connector = object(
  {
    id: string(),
    name: string(),
    description: string(),
    auth: oneOf('api_key', 'oauth2'),
    base_url: described(endpoint, 'URL of the API; null where each connection names it.'),
    settings: described(array(string()), 'Values that `config.settings` of a connection needs.'),
    oauth: described(
      nullable(
        object({
          authorization_url: string(),
          token_url: string(),
          revocation_url: endpoint,
          issuer: endpoint,
          scopes: array(string()),
        }),
      ),
      "The provider's endpoints and default scopes.",
    ),
    is_configured: described(
      boolean(),
      'Whether connections can be made: a connector of the catalogue with OAuth needs a client of yours (`connectors.credentials`).',
    ),
    client_id: described(nullable(string()), "Id of the project's client."),
    tools: array(
      object(
        { name: string(), description: string(), parameters: jsonObject(), risk_level: string() },
        { title: 'ConnectorTool', description: 'A request that agents can make by a connection of this connector.' },
      ),
    ),
  },
  { title: 'Connector', description: 'A kind of service that connections are made to.' },
)

/** The catalogue of services. */
export const connectors = defineOperations('connectors', {
  list: {
    summary: 'List connectors',
    description: 'All connectors of the catalogue, with the tools that they bring.',
    method: 'GET',
    path: '/v1/connectors',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(object({ data: array(connector) })),
  },
  get: {
    summary: 'Retrieve a connector',
    method: 'GET',
    path: '/v1/connectors/{connector_id}',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(connector),
  },
  credentials: {
    summary: 'Set the client of a connector',
    description:
      'Client that the project registered at the provider, with the redirect URI `<server>/v1/connections/oauth/callback`. Connections of the connector sign in with it. A null `client_id` removes it.',
    method: 'PUT',
    path: '/v1/connectors/{connector_id}/credentials',
    access: secretKeyOnly,
    body: object({
      client_id: nullable(string({ minLength: 1, maxLength: 512 })),
      client_secret: described(
        optional(string({ minLength: 1, maxLength: 8192, pattern: '^[ -~]+$' })),
        'It is stored encrypted and never shown. Left out: the stored one of the same `client_id` stays.',
      ),
    }),
    answer: answersJson(
      object(
        {
          connector: string(),
          client_id: nullable(string()),
          has_secret: boolean(),
          redirect_uri: described(string(), 'Address to register at the provider.'),
          updated_at: nullable(timestamp()),
        },
        { title: 'ConnectorCredentials', description: "The project's client at a provider." },
      ),
    ),
    errors: ['invalid_transition'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly connectors: typeof connectors
  }
}
