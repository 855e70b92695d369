import { publicAccess, secretKeyOnly, secretKeyOrDashboard } from '#specs/access.ts'
import { answersBytes, answersJson, type BytesAnswer } from '#specs/dsl/answer.ts'
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

const httpUrl = string({ minLength: 1, maxLength: 2048, pattern: '^https?://' })
const scope = string({ minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' })
const scopes = array(scope, { maxItems: 100 })
const secret = string({ minLength: 1, maxLength: 8192, pattern: '^[ -~]+$' })

/** Largest OpenAPI document, in characters. */
export const maxOpenApiLength = 2_000_000

/** Most operations of an OpenAPI document that become tools. */
export const maxImportedTools = 200

const tokenAuth = oneOf('client_secret_basic', 'client_secret_post', 'none')

/** What a connection is made with beside its key: where it goes, and the client of an OAuth server. */
export const connectionConfig = object(
  {
    base_url: described(
      optional(httpUrl),
      'URL of the API, which paths of tools are added to. For the connectors `api_key`, `oauth2` and `http`.',
    ),
    header: described(
      optional(string({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" })),
      'Header that has the key. Default: `authorization`.',
    ),
    prefix: described(
      optional(string({ maxLength: 64, pattern: '^[ -~]*$' })),
      'Text before the key in the header. Default: `Bearer ` in `authorization`, else nothing.',
    ),
    test_path: described(
      optional(string({ minLength: 1, maxLength: 1024 })),
      'Path of a GET request that only succeeds with a valid key.',
    ),
    settings: described(
      optional(record(string({ minLength: 1, maxLength: 512 }), { maxProperties: 16 })),
      'Values that the URL of the connector needs, such as `cloud_id` of Jira.',
    ),
    openapi: described(
      optional(
        object({
          url: described(optional(httpUrl), 'Address of the document, which the server fetches.'),
          document: described(
            optional(string({ minLength: 2, maxLength: maxOpenApiLength })),
            'The document itself, JSON or YAML.',
          ),
        }),
      ),
      'OpenAPI document 3 whose operations become tools. Default of `base_url`: its first server.',
    ),
    authorization_url: described(optional(httpUrl), 'Authorization endpoint of the connector `oauth2`.'),
    token_url: described(optional(httpUrl), 'Token endpoint.'),
    revocation_url: described(optional(nullable(httpUrl)), 'Revocation endpoint. Null: tokens are not revoked there.'),
    issuer: described(
      optional(nullable(httpUrl)),
      'Issuer of the server. A response of another issuer is refused. Default: the origin of `authorization_url`, where a response names an issuer.',
    ),
    scopes: described(optional(scopes), "Scopes that are requested. Default: the connector's."),
    client_id: described(optional(string({ minLength: 1, maxLength: 512 })), 'Id of your client.'),
    client_secret: described(optional(secret), 'Secret of your client. It is stored encrypted and never shown.'),
    token_auth_method: described(
      optional(tokenAuth),
      'How the client authenticates at the token endpoint. Default: `client_secret_basic`, or `none` without a secret.',
    ),
  },
  { title: 'ConnectionTarget', description: 'Where a connection goes, and the client of its OAuth server.' },
)

const status = oneOf('pending', 'active', 'expired', 'error', 'revoked')

const fields = {
  name: string({ minLength: 1, maxLength: 256 }),
  connector: string({ minLength: 1, maxLength: 64, description: 'Id of the connector (`connectors.list`).' }),
  status: described(
    status,
    '`pending` waits for a sign-in or a key. `expired` has to be connected anew. `error` is tried again. `revoked` ended for good.',
  ),
  owner_type: described(oneOf('project', 'tenant', 'end_user'), 'Whose connection it is.'),
  tenant_id: nullable(string()),
  external_user_id: nullable(string()),
  test_only: described(boolean(), 'Only for tests of agent versions: no turn or run uses it.'),
  config: described(
    jsonObject(),
    'Public part of the configuration: `client_secret` and the OpenAPI document are not in it.',
  ),
  scopes: described(array(string()), 'Scopes that are requested.'),
  granted_scopes: described(nullable(array(string())), 'Scopes that the provider granted, where it says so.'),
  key_last4: described(nullable(string()), 'Last four characters of the key; null without a key, or for a short one.'),
  tool_count: described(integer(), 'Number of tools.'),
  expires_at: described(nullable(timestamp()), 'End of the access token, which is refreshed before.'),
  last_refreshed_at: nullable(timestamp()),
  last_tested_at: nullable(timestamp()),
  error: described(errorField, 'Why the last sign-in, refresh or test failed.'),
}

const access = secretKeyOrDashboard('admin')
const row = { idPrefix: 'con', fields, title: 'Connection' } as const
const description =
  'Access of a project, tenant or end user to a service, for tools of agents. Secrets are never shown.'

const authorizeUrl = { authorize_url: string({ description: 'Address at which the owner signs in.' }) }

const listed = defineResource('connections', {
  path: '/v1/connections',
  key: 'tool_connection_id',
  ...row,
  description,
  writable: ['name'],
  writeOnly: {
    api_key: described(optional(secret), 'Key of the service. It is stored encrypted and never shown.'),
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
    get: { access: secretKeyOrDashboard('member') },
    update: {
      description:
        'A new `api_key` makes the connection active again. Parts of `config` that are sent replace the stored ones; a `config` that leads to another server drops what was granted, and is refused while others are signed in by connections that follow this one.',
      errors: ['connection_revoked', 'fetch_failed'],
    },
    delete: {
      summary: 'Revoke a connection',
      description:
        'Revokes the tokens at the provider where it can, and deletes all secrets. The connection stays for 30 days as `revoked`.',
      answersRow: true,
    },
  },
  transitions: {
    refresh: {
      summary: 'Refresh a connection',
      description:
        'Requests a new access token now. When the provider fails, the connection keeps its token, and `error` holds the reason.',
      event: 'refresh',
      errors: ['connection_revoked', 'invalid_transition'],
    },
  },
})

const one = '/v1/connections/{tool_connection_id}'
const shown = rowSchema({ ...row, description })

/** A redirect of a browser. */
const seeOther: BytesAnswer = { ...answersBytes('text/html'), status: 303 }

const work = defineOperations('connections', {
  create: {
    summary: 'Create a connection',
    description:
      'With an `api_key` the connection is active at once. A connection of an OAuth connector is `pending` until its owner has signed in (`connections.authorize`).',
    method: 'POST',
    path: '/v1/connections',
    access: secretKeyOnly,
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
      api_key: described(optional(secret), 'Key of the service. It is stored encrypted and never shown.'),
      test_only: optional(boolean()),
      config: optional(connectionConfig),
    }),
    maxBodyBytes: 4 * maxOpenApiLength,
    answer: answersJson(shown, { status: 201 }),
    errors: ['not_found', 'fetch_failed', 'connection_limit_reached'],
  },
  authorize: {
    summary: 'Authorize a connection',
    description:
      'Offers a sign-in at the provider, with PKCE and a state that is used once. Send the owner to `authorize_url`, a link of this server that one browser opens once, within 15 minutes; the sign-in has to end in that browser. With `confirm` it is not over before you said who came back (`connections.confirm`): no one can have another person sign in for them.',
    method: 'POST',
    path: `${one}/authorize`,
    access,
    ofTenants: 'user',
    body: object({
      redirect_uri: described(
        optional(httpUrl),
        'Page of yours that the callback leads to, with `connection_id` and `status`. It has to be one of `return_urls` of the project, where there are some.',
      ),
      confirm: described(
        optional(boolean()),
        'The callback leads to `redirect_uri` with `status=confirmation_required` and `sign_in`, and the connection waits for `connections.confirm`. Default: false.',
      ),
      scopes: described(optional(scopes), 'Default: the scopes of the connection.'),
    }),
    answer: answersJson(object({ ...authorizeUrl, expires_at: timestamp() }), { secret: true }),
    errors: ['connection_revoked', 'connector_not_configured', 'invalid_transition'],
  },
  confirm: {
    summary: 'Confirm a sign-in',
    description:
      'Ends a sign-in that was offered with `confirm`: send `sign_in` as your page got it, and the user who is signed in at your page, within 10 minutes. Another user than that of the connection ends the sign-in without a token.',
    method: 'POST',
    path: `${one}/confirm`,
    access,
    ofTenants: 'user',
    body: object({
      sign_in: string({ minLength: 1, maxLength: 256 }),
      external_user_id: described(
        optional(string({ minLength: 1, maxLength: 256 })),
        'User of your session, not of your request. Required for a connection of an end user.',
      ),
    }),
    answer: answersJson(shown),
    errors: ['oauth_state_invalid', 'connection_revoked', 'invalid_transition'],
    idempotency: 'ignored',
  },
  reconnect: {
    summary: 'Create a reconnect link',
    description:
      'Returns a link of this server that starts a sign-in in the browser that opens it, for 7 days. The sign-in has to end in that browser. Anyone with the link can connect their own account.',
    method: 'POST',
    path: `${one}/reconnect`,
    access,
    ofTenants: 'user',
    answer: answersJson(object({ ...authorizeUrl, expires_at: timestamp() }), { secret: true }),
    errors: ['connection_revoked', 'connector_not_configured', 'invalid_transition'],
  },
  start: {
    summary: 'Start a sign-in',
    description:
      'Address of links of `connections.authorize` and `connections.reconnect`. Redirects the browser to the provider.',
    method: 'GET',
    path: '/v1/connections/oauth/start',
    access: publicAccess,
    query: { link: string({ minLength: 1, maxLength: 1024 }) },
    answer: seeOther,
    cors: false,
    errors: ['oauth_state_invalid', 'connection_revoked', 'connector_not_configured'],
  },
  callback: {
    summary: 'End a sign-in',
    description:
      'Redirect target of providers. The state is checked, used once, and bound to the connection, its issuer and the browser that began it.',
    method: 'GET',
    path: '/v1/connections/oauth/callback',
    access: publicAccess,
    query: {
      state: optional(string({ maxLength: 1024 })),
      // characters of a code are those that RFC 6749 (appendix A.11) gives it
      code: optional(string({ maxLength: 4096, pattern: '^[ -~]*$' })),
      iss: optional(string({ maxLength: 2048 })),
      error: optional(string({ maxLength: 256 })),
      error_description: optional(string({ maxLength: 1024 })),
    },
    passedOver: ['scope', 'session_state', 'authuser', 'prompt', 'hd', 'error_uri', 'locale', 'client_info'],
    answer: answersBytes('text/html'),
    cors: false,
    errors: ['oauth_state_invalid'],
  },
  test: {
    summary: 'Test a connection',
    description:
      'Makes the test call of the connector. A failure of the provider is a response with `success: false`, not an error.',
    method: 'POST',
    path: `${one}/test`,
    access,
    ofTenants: 'user',
    answer: answersJson(
      object(
        { success: boolean(), status, latency_ms: integer(), error: errorField },
        { title: 'ConnectionTest', description: 'Result of a test.' },
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
    answer: answersJson(
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
            { title: 'ConnectionTool', description: 'A request that agents can make by a connection.' },
          ),
        ),
      }),
    ),
  },
})

/** Access of tools to services. */
export const connections = { ...listed, ...work } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly connections: typeof connections
  }
}
