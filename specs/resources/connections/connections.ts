import { publicAccess, secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { answersBytes, type BytesAnswer, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { ownerFilters } from '#specs/dsl/lists.ts'
import { defineResource, rowSchema } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  record,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { errorField } from '#specs/error-field.ts'
import { statuses } from '#specs/statuses.ts'

const httpUrl = string({ minLength: 1, maxLength: 2048, pattern: '^https?://' })
const scope = string({ minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' })
const scopes = array(scope, { maxItems: 100 })
const secret = string({ minLength: 1, maxLength: 8192, pattern: '^[ -~]+$' })

/** Maximum length of an OpenAPI document, in characters. */
export const maxOpenApiLength = 2_000_000

/** Maximum number of operations of an OpenAPI document that become tools. */
export const maxImportedTools = 200

const tokenAuth = oneOf('client_secret_basic', 'client_secret_post', 'none')

/** Config of a connection, other than its key: URLs, and the client at an OAuth server. */
const connectionConfig = object(
  {
    base_url: described(
      optional(httpUrl),
      'Base URL of the API; paths of tools are appended to it. For the connectors `api_key`, `oauth2` and `http`.',
    ),
    header: described(
      optional(string({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" })),
      'Header that carries the key. Default: `authorization`.',
    ),
    prefix: described(
      optional(string({ maxLength: 64, pattern: '^[ -~]*$' })),
      'Text before the key in the header. Default: `Bearer ` in `authorization`, otherwise empty.',
    ),
    test_path: described(
      optional(string({ minLength: 1, maxLength: 1024 })),
      'Path for a GET request that succeeds only with a valid key.',
    ),
    settings: described(
      optional(record(string({ minLength: 1, maxLength: 512 }), { maxProperties: 16 })),
      "Values that the connector's URL requires, such as `cloud_id` for Jira.",
    ),
    openapi: described(
      optional(
        object({
          url: described(optional(httpUrl), 'URL from which the server fetches the document.'),
          document: described(
            optional(string({ minLength: 2, maxLength: maxOpenApiLength })),
            'The document itself, JSON or YAML.',
          ),
        }),
      ),
      'OpenAPI 3 document whose operations become tools. `base_url` defaults to its first server.',
    ),
    server_url: described(
      optional(httpUrl),
      'URL of the remote tool server. For the connector `mcp`, whose authorization server is found by discovery.',
    ),
    authorization_url: described(optional(httpUrl), 'Authorization endpoint of the connector `oauth2`.'),
    token_url: described(optional(httpUrl), 'Token endpoint.'),
    revocation_url: described(
      optional(nullable(httpUrl)),
      'Revocation endpoint. If null, tokens are not revoked at the provider.',
    ),
    issuer: described(
      optional(nullable(httpUrl)),
      'Issuer of the authorization server. A response from another issuer is refused. Default: the origin of `authorization_url`, checked if a response names an issuer.',
    ),
    scopes: described(optional(scopes), "Scopes that are requested. Default: the connector's."),
    client_id: described(optional(string({ minLength: 1, maxLength: 512 })), 'Id of your client.'),
    client_secret: described(optional(secret), 'Secret of your client. Stored encrypted and never shown.'),
    token_auth_method: described(
      optional(tokenAuth),
      'Authentication method at the token endpoint. Default: `client_secret_basic`, or `none` without a secret.',
    ),
  },
  { title: 'ConnectionTarget', description: 'Target of a connection, and its OAuth client.' },
)

const status = oneOf(...statuses.connection)

const fields = {
  name: string({ minLength: 1, maxLength: 256 }),
  connector: string({ minLength: 1, maxLength: 64, description: 'Id of the connector (`connectors.list`).' }),
  status: described(
    status,
    '`pending`: requires a sign-in or a key. `active`: usable. `expired`: must be reconnected. `error`: refreshing the token failed for the reason in `error`; temporary failures are retried, others require `connections.refresh` or a new sign-in. `revoked`: permanently ended.',
  ),
  owner_type: described(oneOf('project', 'tenant', 'end_user'), 'Kind of the owner.'),
  tenant_id: nullable(string()),
  external_user_id: nullable(string()),
  test_only: described(
    boolean(),
    'Whether the connection is used only for tests of agent versions, never for turns or runs.',
  ),
  config: described(
    jsonObject(),
    'Public part of the configuration, without `client_secret` and the OpenAPI document.',
  ),
  scopes: described(array(string()), 'Scopes that are requested.'),
  missing_scopes: described(
    array(string()),
    'Scopes that the service requires for a call and that the sign-in has not requested. The calls wait until the owner has signed in again.',
  ),
  granted_scopes: described(nullable(array(string())), 'Scopes that the provider granted, if it reports them.'),
  key_last4: described(
    nullable(string()),
    'Last four characters of the key; null if there is no key or the key is too short.',
  ),
  tool_count: described(integer(), 'Number of tools.'),
  expires_at: described(nullable(timestamp()), 'Time at which the access token expires. It is refreshed before that.'),
  last_refreshed_at: nullable(timestamp()),
  last_tested_at: nullable(timestamp()),
  error: described(errorField, 'Reason for which the last sign-in, refresh or test failed.'),
}

const access = secretKeyOrDashboard('admin')
const row = { idPrefix: 'con', fields, title: 'Connection' } as const
const description =
  'Credentials of a project, tenant or end user for a service, used by the tools of agents. Secrets are never shown.'

const authorizeUrl = { authorize_url: string({ description: 'URL where the owner signs in.' }) }

const listed = defineResource('connections', {
  path: '/v1/connections',
  key: 'tool_connection_id',
  ...row,
  description,
  writable: ['name'],
  writeOnly: {
    api_key: described(optional(secret), 'API key of the service. Stored encrypted and never shown.'),
    config: optional(connectionConfig),
  },
  access,
  ofTenants: 'user',
  operations: {
    list: {
      access: secretKeyOrDashboard('member'),
      query: {
        status: optional(status),
        connector: optional(string({ minLength: 1, maxLength: 64 })),
        owner_type: optional(oneOf('project', 'tenant', 'end_user')),
        ...ownerFilters,
      },
    },
    get: {
      access: secretKeyOrDashboard('member'),
      description:
        'Returns the connection with its status and, if a refresh failed, the reason. Keys and tokens are never returned.',
    },
    update: {
      description:
        'A new `api_key` makes the connection active again. The parts of `config` that are sent replace the stored ones. A `config` that points to another address (origin, path or query) discards the granted tokens; it is refused while other owners are signed in through connections that are based on this one.',
      errors: ['connection_revoked', 'fetch_failed'],
    },
    delete: {
      summary: 'Revoke a connection',
      description:
        'Revokes the tokens at the provider, if it supports revocation, and deletes all secrets. The connection is kept for 30 days with status `revoked`.',
      answersRow: true,
    },
  },
  transitions: {
    refresh: {
      summary: 'Refresh a connection',
      description:
        'Requests a new access token immediately. If the provider fails, the connection keeps its token and `error` contains the reason.',
      event: 'refresh',
      errors: ['connection_revoked', 'invalid_transition'],
    },
  },
})

const one = '/v1/connections/{tool_connection_id}'
const shown = rowSchema({ ...row, description })

const signInErrors = ['connection_revoked', 'connector_not_configured', 'oauth_discovery_failed'] as const

/** Parameters of an authorization response. */
const responseQuery = {
  state: optional(string({ maxLength: 1024 })),
  // characters of an authorization code according to RFC 6749, appendix A.11
  code: optional(string({ maxLength: 4096, pattern: '^[ -~]*$' })),
  iss: optional(string({ maxLength: 2048 })),
  error: optional(string({ maxLength: 256 })),
  error_description: optional(string({ maxLength: 1024 })),
}

const ignoredParameters = ['scope', 'session_state', 'authuser', 'prompt', 'hd', 'error_uri', 'locale', 'client_info']

/** A redirect for browsers. */
const seeOther: BytesAnswer = { ...answersBytes('text/html'), status: 303 }

const work = defineOperations('connections', {
  create: {
    summary: 'Create a connection',
    description:
      'With an `api_key`, the connection is active immediately. A connection of an OAuth connector is `pending` until its owner has signed in (`connections.authorize`).',
    method: 'POST',
    path: '/v1/connections',
    access: secretKeyOrConsole,
    ofTenants: 'user',
    body: object({
      connector: fields.connector,
      owner_type: described(
        optional(oneOf('project', 'tenant', 'end_user')),
        'Default: `end_user` with `external_user_id`, `tenant` with `tenant_id`, else `project`.',
      ),
      tenant_id: optional(nullable(string({ minLength: 1, maxLength: 128 }))),
      external_user_id: optional(nullable(string({ minLength: 1, maxLength: 256 }))),
      name: described(optional(fields.name), 'Default: the name of the connector.'),
      api_key: described(optional(secret), 'API key of the service. Stored encrypted and never shown.'),
      test_only: optional(boolean()),
      config: optional(connectionConfig),
    }),
    maxBodyBytes: 4 * maxOpenApiLength,
    answer: isJsonResponse(shown, { status: 201 }),
    errors: ['not_found', 'fetch_failed', 'connection_limit_reached'],
  },
  authorize: {
    summary: 'Authorize a connection',
    description:
      'Starts an OAuth sign-in at the provider, with PKCE and a single-use state. Send the owner to `authorize_url`, a link to this server that can be opened once, within 15 minutes; the sign-in must be completed in the same browser. With `confirm`, the sign-in is complete only after you report which user returned (`connections.confirm`), so that no one can get another person to sign in on their behalf.',
    method: 'POST',
    path: `${one}/authorize`,
    access,
    ofTenants: 'user',
    body: object({
      redirect_uri: described(
        optional(httpUrl),
        'Your page to which the callback redirects, with `connection_id` and `status`. If the project has `return_urls`, it must match one of them.',
      ),
      confirm: described(
        optional(boolean()),
        'Whether the sign-in must be confirmed. If true, the callback redirects to `redirect_uri` with `status=confirmation_required` and `sign_in`, and the sign-in is complete only after `connections.confirm`. Default: false.',
      ),
      scopes: described(optional(scopes), 'Default: the scopes of the connection.'),
    }),
    answer: isJsonResponse(object({ ...authorizeUrl, expires_at: timestamp() }), { secret: true }),
    errors: [...signInErrors, 'invalid_transition'],
  },
  confirm: {
    summary: 'Confirm a sign-in',
    description:
      'Completes a sign-in that was started with `confirm`. Within 10 minutes, send `sign_in` as your page received it and the user who is signed in on your page. If that is not the user of the connection, the sign-in ends without a token.',
    method: 'POST',
    path: `${one}/confirm`,
    access,
    ofTenants: 'user',
    body: object({
      sign_in: string({ minLength: 1, maxLength: 256 }),
      external_user_id: described(
        optional(string({ minLength: 1, maxLength: 256 })),
        'Id of the user who is signed in at your page, taken from your own session and not from request parameters. Required for a connection of an end user.',
      ),
    }),
    answer: isJsonResponse(shown),
    errors: ['oauth_state_invalid', 'connection_revoked', 'invalid_transition'],
    idempotency: 'ignored',
  },
  reconnect: {
    summary: 'Create a reconnect link',
    description:
      'Returns a link to this server that starts a sign-in in the browser that opens it. The link is valid for 7 days, and the sign-in must be completed in the same browser. Anyone with the link can connect their own account.',
    method: 'POST',
    path: `${one}/reconnect`,
    access,
    ofTenants: 'user',
    answer: isJsonResponse(object({ ...authorizeUrl, expires_at: timestamp() }), { secret: true }),
    errors: [...signInErrors, 'invalid_transition'],
  },
  start: {
    summary: 'Start a sign-in',
    description:
      'Target of the links from `connections.authorize` and `connections.reconnect`. Redirects the browser to the provider.',
    method: 'GET',
    path: '/v1/connections/oauth/start',
    access: publicAccess,
    query: { link: string({ minLength: 1, maxLength: 1024 }) },
    answer: seeOther,
    cors: false,
    errors: ['oauth_state_invalid', ...signInErrors],
  },
  callback: {
    summary: 'Complete a sign-in',
    description:
      'OAuth redirect URI for providers. The state is verified, can be used once, and is bound to the connection, its issuer and the browser that started the sign-in.',
    method: 'GET',
    path: '/v1/connections/oauth/callback',
    access: publicAccess,
    query: responseQuery,
    passedOver: ignoredParameters,
    answer: answersBytes('text/html'),
    cors: false,
    errors: ['oauth_state_invalid'],
  },
  issuer_callback: {
    summary: 'Complete a sign-in at a discovered server',
    description:
      'OAuth redirect URI for one authorization server whose responses do not name it, so that a code of another server is not accepted. Otherwise the same as `connections.callback`.',
    method: 'GET',
    path: '/v1/connections/oauth/callback/{issuer}',
    access: publicAccess,
    query: responseQuery,
    passedOver: ignoredParameters,
    answer: answersBytes('text/html'),
    cors: false,
    errors: ['oauth_state_invalid'],
  },
  client_metadata: {
    summary: 'Retrieve the OAuth client metadata document',
    description:
      'Describes this server as an OAuth client. The URL of the document is its client id at authorization servers that read such documents. It exists only if the public URL of the server uses https.',
    method: 'GET',
    path: '/client-metadata.json',
    access: publicAccess,
    answer: isJsonResponse(
      object(
        {
          client_id: string(),
          client_name: string(),
          client_uri: string(),
          redirect_uris: array(string()),
          grant_types: array(string()),
          response_types: array(string()),
          application_type: string(),
          token_endpoint_auth_method: string(),
        },
        { title: 'OAuthClientMetadata', description: 'Metadata of an OAuth client (RFC 7591).' },
      ),
    ),
    errors: ['not_found'],
  },
  test: {
    summary: 'Test a connection',
    description:
      "Makes the connector's test request. When the provider fails, the response has `success: false` and status 200.",
    method: 'POST',
    path: `${one}/test`,
    access,
    ofTenants: 'user',
    answer: isJsonResponse(
      object(
        { success: boolean(), status, latency_ms: integer(), error: errorField },
        { title: 'ConnectionTest', description: 'Result of a connection test.' },
      ),
    ),
    errors: ['connection_revoked'],
  },
  tools: {
    summary: 'List tools of a connection',
    description: 'Returns the tools that agents with this connection can call.',
    method: 'GET',
    path: `${one}/tools`,
    access: secretKeyOrDashboard('member'),
    ofTenants: 'user',
    answer: isJsonResponse(
      object({
        data: array(
          object(
            {
              name: string(),
              description: string(),
              method: string(),
              path: string(),
              parameters: jsonObject(),
              risk_level: string(),
            },
            { title: 'ConnectionTool', description: 'A request that agents can make through a connection.' },
          ),
        ),
      }),
    ),
  },
})

/** Connections, with which tools access external services. */
export const connections = { ...listed, ...work } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly connections: typeof connections
  }
}
