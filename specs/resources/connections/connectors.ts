import { secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
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
    base_url: described(endpoint, 'URL of the API; null if each connection sets its own.'),
    settings: described(array(string()), 'Values that `config.settings` of a connection must contain.'),
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
      'Whether connections can be created. A catalogue connector with OAuth requires your own OAuth client (`connectors.credentials`).',
    ),
    client_id: described(nullable(string()), "Id of the project's OAuth client."),
    tools: array(
      object(
        { name: string(), description: string(), parameters: jsonObject(), risk_level: string() },
        {
          title: 'ConnectorTool',
          description: 'A request that agents can make through a connection of this connector.',
        },
      ),
    ),
  },
  { title: 'Connector', description: 'A kind of service to which connections can be created.' },
)

/** The catalogue of connectors. */
export const connectors = defineOperations('connectors', {
  list: {
    summary: 'List connectors',
    description: 'Returns the connectors of the catalogue, with the tools that they provide.',
    method: 'GET',
    path: '/v1/connectors',
    access: secretKeyOrDashboard('member'),
    query: cursorQuery,
    answer: isJsonResponse(cursorPage(connector)),
  },
  get: {
    summary: 'Retrieve a connector',
    description:
      'Returns a connector of the catalogue with the tools that it provides, and how its connections sign in.',
    method: 'GET',
    path: '/v1/connectors/{connector_id}',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(connector),
  },
  credentials: {
    summary: 'Set the OAuth client of a connector',
    description:
      'Sets the OAuth client that the project registered at the provider with the redirect URI `<server>/v1/connections/oauth/callback`. Connections of the connector sign in with it. A `client_id` of null removes it.',
    method: 'PUT',
    path: '/v1/connectors/{connector_id}/credentials',
    access: secretKeyOrConsole,
    body: object({
      client_id: nullable(string({ minLength: 1, maxLength: 512 })),
      client_secret: described(
        optional(string({ minLength: 1, maxLength: 8192, pattern: '^[ -~]+$' })),
        'Stored encrypted and never shown. If omitted, the stored secret of the same `client_id` is kept.',
      ),
    }),
    answer: isJsonResponse(
      object(
        {
          connector: string(),
          client_id: nullable(string()),
          has_secret: boolean(),
          redirect_uri: described(string(), 'Redirect URI to register at the provider.'),
          updated_at: nullable(timestamp()),
        },
        { title: 'ConnectorCredentials', description: "The project's OAuth client at a provider." },
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
