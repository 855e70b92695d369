import { array, described, object, oneOf, optional, string } from '#specs/dsl/schema.ts'

/** How requests to a remote tool server authenticate. */
export const serverAuth = object({
  type: described(
    optional(oneOf('oauth')),
    '`oauth`: `owner` signs in to the server itself, whose authorization server is found by discovery. A connection of the connector `mcp` is created for it.',
  ),
  connection_id: optional(
    string({
      minLength: 1,
      maxLength: 128,
      description: 'Id of the connection. With `owner`, it is the template for the connections of other owners.',
    }),
  ),
  connector: optional(
    string({ minLength: 1, maxLength: 128, description: 'Id of the connector for which `owner` has a connection.' }),
  ),
  owner: described(
    optional(oneOf('project', 'tenant', 'end_user')),
    'Whose connection is used: that of the tenant or end user whose session or run makes the call, or that of the project, which a key that is limited to tenants cannot name. Default with `type`: `tenant` for a server of a tenant, else `project`.',
  ),
  client_id: described(
    optional(string({ minLength: 1, maxLength: 512 })),
    'Id of your client at the authorization server. Only with `type`. If omitted, a client is registered, or the metadata document of this server is used (`connections.client_metadata`).',
  ),
  client_secret: described(
    optional(string({ minLength: 1, maxLength: 8192, pattern: '^[ -~]+$' })),
    'Secret of your client. Only with `type`. Stored encrypted and never returned.',
  ),
  token_auth_method: described(
    optional(oneOf('client_secret_basic', 'client_secret_post', 'none')),
    'Authentication method at the token endpoint. Only with `type`. Default: the first that the authorization server supports.',
  ),
  issuer: described(
    optional(string({ minLength: 1, maxLength: 2048, pattern: '^https?://' })),
    'The only authorization server that is used. Only with `type`. Default: the first that the server names.',
  ),
  scopes: described(
    optional(array(string({ minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' }), { maxItems: 100 })),
    'Scopes that are always requested. Only with `type`. Default: those that the server requires.',
  ),
})

/** Description of the `auth` of a server. */
export const authWords =
  'Connection whose token is sent with each call. For connections of end users, it is that of the user whose session or run makes the call. The token is sent only to the origin for which the connection was set; with `type`, only to the `url` of the server.'
