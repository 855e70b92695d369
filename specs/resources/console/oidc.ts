import { dashboardOnly, publicAccess, roles } from '#specs/access.ts'
import { answersBytes, answersJsonWithHeaders, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  nullable,
  object,
  oneOf,
  optional,
  record,
  string,
} from '#specs/dsl/schema.ts'

const role = oneOf(...roles)
const word = (maxLength: number) => string({ minLength: 1, maxLength })

/** Providers at which members of an organization sign in. */
export const oidcConnections = defineResource('oidc_connections', {
  path: '/api/oidc-connections',
  key: 'oidc_connection_id',
  idPrefix: 'oic',
  title: 'OidcConnection',
  description: 'A provider of OpenID Connect at which members of the organization sign in.',
  fields: {
    name: string({ minLength: 1, maxLength: 128, description: 'Name on the button of the sign-in page.' }),
    issuer: string({
      minLength: 1,
      maxLength: 1024,
      pattern: '^https?://[^\\s@?#]+$',
      description: 'Issuer, whose endpoints are found by discovery. `https`, except on this machine.',
    }),
    client_id: word(1024),
    scopes: described(
      defaulted(array(word(128), { maxItems: 20 }), ['openid', 'email', 'profile']),
      'Requested scopes. `openid` is always requested.',
    ),
    allowed_domains: described(
      defaulted(array(string({ maxLength: 253, pattern: '^[a-z0-9.-]+$' }), { maxItems: 100 }), []),
      'Domains of verified e-mail addresses that name a member. If empty, only members that have linked their account can sign in.',
    ),
    creates_members: described(
      defaulted(boolean(), false),
      'Whether the first sign-in with an address in `allowed_domains` creates a member.',
    ),
    role_claim: described(
      defaulted(nullable(word(256)), null),
      'Claim with the groups or roles of a person, such as `groups` or `realm_access.roles`. With it, each sign-in sets the role of the member.',
    ),
    roles: described(defaulted(record(role), {}), 'Role by value of that claim. The strongest one counts.'),
    default_role: described(
      defaulted(nullable(role), 'member'),
      'Role without a matching value. Null: such a person is refused.',
    ),
    is_active: described(defaulted(boolean(), true), 'If false, its sign-ins and sessions are refused.'),
    has_client_secret: boolean(),
    redirect_uri: string({ description: 'Redirect URI to register at the provider.' }),
  },
  writable: [
    ...['name', 'issuer', 'client_id', 'scopes', 'allowed_domains', 'creates_members', 'role_claim', 'roles'],
    ...['default_role', 'is_active'],
  ] as const,
  writeOnly: {
    client_secret: described(
      optional(nullable(word(4096))),
      'Null for a public client. A change of the issuer without it removes it.',
    ),
  },
  access: dashboardOnly('owner'),
  operations: {
    list: { access: dashboardOnly('admin') },
    create: { description: 'It appears on the sign-in page. `issuer` is not contacted before the first sign-in.' },
    update: { description: 'Replaces the fields that the body contains, for sign-ins that start from now on.' },
    delete: {
      description: 'Sessions that were opened by it end within a second. Members and their other ways to sign in stay.',
      errors: ['invalid_transition'],
    },
  },
})

const connection_id = word(128)
const start = object(
  { url: string({ description: 'URL of the provider to which to send the browser.' }) },
  { title: 'OidcStart' },
)

/** Sign-ins at a provider, in a browser. */
export const oidcSignIn = defineOperations('oidc_sign_in', {
  providers: {
    summary: 'List the providers of the sign-in page',
    description: 'Active providers of an organization: by default the one that the first start created.',
    method: 'GET',
    path: '/api/auth/oidc/providers',
    access: publicAccess,
    cors: false,
    query: { organization: optional(word(128)) },
    answer: isJsonResponse(
      object(
        { data: array(object({ id: string(), name: string() }, { title: 'OidcProvider' })) },
        { title: 'OidcProviders' },
      ),
    ),
  },
  start: {
    summary: 'Start a sign-in at a provider',
    description:
      'Authorization code flow with PKCE, state and nonce. Sets a cookie that binds it to this browser, for ten minutes.',
    method: 'POST',
    path: '/api/auth/oidc/start',
    access: publicAccess,
    maxBodyBytes: 12 * 1024,
    body: object({
      connection_id,
      return_to: described(
        optional(string({ maxLength: 1400, pattern: '^/oauth/authorize\\?[!-~]*$' })),
        'Consent page to which the sign-in leads. Default: the console.',
      ),
    }),
    answer: answersJsonWithHeaders(start),
    errors: ['not_found', 'oidc_provider_unavailable', 'rate_limit_exceeded', 'csrf_refused'],
    idempotency: 'ignored',
  },
  link: {
    summary: 'Link the signed-in member to an account at a provider',
    description:
      'Like `oidc_sign_in.start`. The account that signs in there can sign in as this member afterwards, whatever its e-mail address.',
    method: 'POST',
    path: '/api/auth/oidc/link',
    access: { ...dashboardOnly('member'), changes: 'member' },
    body: object({ connection_id }),
    answer: answersJsonWithHeaders(start),
    errors: ['not_found', 'oidc_provider_unavailable', 'rate_limit_exceeded'],
    idempotency: 'ignored',
  },
  callback: {
    summary: 'Complete a sign-in at a provider',
    description:
      'Redirect URI for the provider. Verifies state, issuer, ID token and nonce, sets the session cookie and leads to the console.',
    method: 'GET',
    path: '/api/auth/oidc/callback/{oidc_connection_id}',
    access: publicAccess,
    cors: false,
    query: {
      state: optional(string({ maxLength: 1024 })),
      code: optional(string({ maxLength: 4096, pattern: '^[ -~]*$' })),
      iss: optional(string({ maxLength: 2048 })),
      error: optional(string({ maxLength: 256 })),
      error_description: optional(string({ maxLength: 1024 })),
    },
    passedOver: ['scope', 'session_state', 'authuser', 'prompt', 'hd', 'error_uri', 'locale', 'client_info'],
    answer: answersBytes('text/html'),
  },
})

declare module '../../index.ts' {
  interface Resources {
    readonly oidcConnections: typeof oidcConnections
    readonly oidcSignIn: typeof oidcSignIn
  }
}
