import { dashboardOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { array, described, nullable, object, oneOf, optional, string, timestamp } from '#specs/dsl/schema.ts'

const text = (maxLength: number) => optional(string({ maxLength }))

/** Parameters of an authorization request, as the URL of the consent page has them. */
const params = {
  response_type: text(64),
  client_id: text(2048),
  redirect_uri: text(2048),
  code_challenge: text(256),
  code_challenge_method: text(64),
  scope: text(4096),
  state: text(4096),
  resource: text(2048),
  origin: described(
    string({ maxLength: 512, pattern: '^https?://[^/?#\\s@]+$' }),
    'Origin of the page. With `PUBLIC_URL`, the origin of that is used instead.',
  ),
}

const access = { ...dashboardOnly('member'), changes: 'member' } as const

const preview = object(
  {
    client: object(
      {
        id: string(),
        name: string({ description: 'Name that the app gives itself.' }),
        host: described(nullable(string()), 'Host that publishes the app; null if the app registered itself.'),
        redirect: string({ description: 'Host, or scheme, to which the member is sent back.' }),
      },
      { title: 'OAuthClient', description: 'An app that requests access. None of it is verified, except `host`.' },
    ),
    scopes: described(array(string()), 'What the app requests, as the `operations` of a key.'),
    error: described(
      nullable(object({ code: string(), message: string() })),
      'Reason why the request cannot be granted; null if it can.',
    ),
    redirect_to: described(nullable(string()), 'URL that reports the error to the app; null if there is none.'),
  },
  { title: 'OAuthConsentPreview' },
)

/** Decisions of members about apps that request access to `/mcp` with OAuth. */
export const oauthConsents = defineOperations('oauth_consents', {
  preview: {
    summary: 'Retrieve what an app requests',
    description:
      'Checks an authorization request of OAuth 2.1, whose parameters are those of `/oauth/authorize`. If `client_id` is a URL, the document at it is fetched.',
    method: 'POST',
    path: '/api/oauth/consents/preview',
    access,
    body: object(params),
    answer: isJsonResponse(preview),
    idempotency: 'ignored',
  },
  create: {
    summary: 'Grant or deny an app access',
    description:
      'Grants the app access to the project in `X-Project-Id`, never beyond what the member may do, and returns the URL that hands the app its code. The code is valid for a minute and once.',
    method: 'POST',
    path: '/api/oauth/consents',
    access,
    body: object({ ...params, decision: oneOf('approve', 'deny') }),
    answer: isJsonResponse(object({ redirect_to: string() }, { title: 'OAuthConsent' }), { secret: true }),
  },
})

/** Access that members granted to apps. */
export const oauthGrants = defineResource('oauth_grants', {
  path: '/api/projects/{project_id}/oauth-grants',
  key: 'grant_id',
  idPrefix: 'ogr',
  title: 'OAuthGrant',
  description: 'Access to `/mcp` that a member granted to an app. It ends 30 days after its last refresh.',
  fields: {
    client_name: string({ description: 'Name that the app gave itself.' }),
    client_id: string(),
    member_id: string({ description: 'Member that granted it, whose role limits it.' }),
    scopes: array(string()),
    last_used_at: nullable(timestamp()),
    expires_at: nullable(timestamp()),
  },
  writable: [],
  access,
  operations: {
    list: {},
    delete: {
      summary: 'Revoke the access of an app',
      description:
        'Its tokens are refused immediately. Members revoke what they granted themselves; admins revoke every grant.',
    },
  },
})

declare module '../../index.ts' {
  interface Resources {
    readonly oauthConsents: typeof oauthConsents
    readonly oauthGrants: typeof oauthGrants
  }
}
