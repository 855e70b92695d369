import { operationGroups } from '#specs/reach/key-scopes.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { OAuthError } from './oauth-error.ts'
import { isOwnRedirect } from './redirect-uris.ts'

/** Parameters of an authorization request, as its URL has them. */
export type AuthorizationParams = Readonly<
  Partial<
    Record<
      | 'response_type'
      | 'client_id'
      | 'redirect_uri'
      | 'code_challenge'
      | 'code_challenge_method'
      | 'scope'
      | 'state'
      | 'resource',
      string
    >
  >
>

/** An authorization request that a member may grant. */
export interface AuthorizationRequest {
  readonly redirectUri: string
  readonly challenge: string
  readonly scopes: readonly string[]
}

/** Scopes that are offered: the two that read or change everything, then those of the groups of operations. */
export const offeredScopes: readonly string[] = [
  ...['read', 'write'],
  // an app gets no credentials that would outlive its own
  ...operationGroups.filter((group) => group !== 'keys').flatMap((group) => [group, `${group}:read`]),
]

const known: ReadonlySet<string> = new Set([
  ...offeredScopes,
  ...operationGroups.filter((group) => group !== 'keys').map((group) => `${group}:write`),
])

/** Scopes of OpenID Connect that clients add by habit; they mean nothing here. */
const ignored: ReadonlySet<string> = new Set(['offline_access', 'openid', 'profile', 'email'])

/** The resource that tokens are for, by the issuer. */
export const resourceOf = (issuer: string): string => `${issuer}/mcp`

/** Returns the redirect URI of a request; null for one that is not the client's, to which nothing may be sent. */
export const redirectOf = ({ redirect_uri }: AuthorizationParams, client: ClientMetadata): string | null =>
  redirect_uri !== undefined && isOwnRedirect(client.redirect_uris, redirect_uri) ? redirect_uri : null

/**
 * Checks a request whose redirect URI is the client's.
 *
 * @throws {OAuthError} whose code the client may be sent
 */
export const readRequest = (
  params: AuthorizationParams,
  { redirectUri, issuer }: { readonly redirectUri: string; readonly issuer: string },
): AuthorizationRequest => {
  if (params.response_type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type must be code.')
  const { code_challenge: challenge = '' } = params
  // `plain`, and none at all, would let a thief use a stolen code
  if (params.code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(challenge))
    throw new OAuthError('invalid_request', 'PKCE is required: code_challenge with code_challenge_method=S256.')
  requireResource(params.resource, resourceOf(issuer))
  return { redirectUri, challenge, scopes: scopesOf(params.scope) }
}

/**
 * Checks that a resource indicator (RFC 8707), if there is one, names the resource of this server.
 *
 * @throws {OAuthError} `invalid_target`
 */
export const requireResource = (given: string | undefined, own: string): void => {
  if (given === undefined) return
  const url = URL.parse(given)
  if (url !== null && !given.includes('#') && `${url.origin}${url.pathname.replace(/\/$/, '')}` === own) return
  throw new OAuthError('invalid_target', `The only resource of this server is ${own}.`)
}

/** @throws {OAuthError} `invalid_scope` */
const scopesOf = (given = ''): readonly string[] => {
  const wanted = given.split(' ').filter((each) => each !== '' && !ignored.has(each))
  const unknown = wanted.find((each) => !known.has(each))
  if (unknown !== undefined || wanted.length > 50)
    throw new OAuthError('invalid_scope', 'A scope is read, write, or a group of operations such as sessions:read.')
  return wanted.length === 0 ? ['read'] : [...new Set(wanted)]
}
