import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/client'
import { isSecureUrl } from '#outgoing/credential-address.ts'
import { AnswerRefused, type GuardedFetch, guardedFetch } from '#outgoing/guarded-fetch.ts'
import { mcpSdk } from '#outgoing/mcp-sdk.ts'
import { type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { DiscoveryFailed } from './discovery-failed.ts'

/** The authorization server of a protected resource, from the metadata of both. */
export interface DiscoveredServer {
  readonly issuer: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly revocationUrl: string | null
  /** Whether every authorization response names the issuer (RFC 9207). */
  readonly namesIssuer: boolean
  /** Resource indicator as the resource itself publishes it (RFC 8707); null when it publishes none. */
  readonly resource: string | null
  /** Scopes of the resource; empty when it lists none. */
  readonly scopes: readonly string[]
  /** Whether the server grants refresh tokens for the scope `offline_access`. */
  readonly offersOffline: boolean
  /** Whether the URL of a metadata document is accepted as client id. */
  readonly readsClientDocuments: boolean
  /** Client authentication methods of the token endpoint; empty when the server lists none. */
  readonly authMethods: readonly string[]
  /** The server's metadata, for the registration of a client; null for a server that publishes none. */
  readonly metadata: AuthorizationServerMetadata | null
}

/** The protected resource whose server is discovered. */
export interface DiscoveryRequest {
  readonly guard: Pick<SsrfGuard, 'check' | 'request'>
  /** URL of the resource. */
  readonly url: string
  /** Location of the resource's metadata, as its refusal of a request names it; null when it names none. */
  readonly metadataUrl: string | null
  /** The only issuer that may be used; null for the first that the resource lists. */
  readonly issuer: string | null
}

/** Limits of one discovery with the registration of a client. Metadata documents have a few kilobytes. */
export const discoveryLimits = { maxBytes: 512 * 1024, maxDepth: 16, maxValues: 10_000, maxRequests: 24 } as const

const timeoutMs = 15_000

/** A fetch through the guard for one discovery, which remembers the status of each response, in order. */
export interface DiscoveryFetch {
  readonly fetch: GuardedFetch
  readonly statuses: readonly number[]
}

export const discoveryFetch = (guard: Pick<SsrfGuard, 'request'>): DiscoveryFetch => {
  const statuses: number[] = []
  const fetch = guardedFetch(guard, discoveryLimits, { kind: 'oauth', outer: AbortSignal.timeout(timeoutMs) })
  return {
    statuses,
    fetch: async (url, init) => {
      const answer = await fetch(url, init)
      statuses.push(answer.status)
      return answer
    },
  }
}

type Sdk = typeof import('@modelcontextprotocol/client')

/**
 * Finds the authorization server of a resource: by the resource's metadata (RFC 9728), or, as in the first revision of
 * the protocol, at the origin of a resource that publishes none.
 *
 * @throws {DiscoveryFailed}
 */
export const discoverServer = async (request: DiscoveryRequest, wire: DiscoveryFetch): Promise<DiscoveredServer> => {
  const sdk = await mcpSdk()
  const resource = await resourceMetadata(sdk, request, wire)
  if (resource !== null) checkResource(sdk, request.url, resource)
  const issuer = issuerOf(request, resource)
  const metadata = await serverMetadata(sdk, issuer, { wire, isRequired: resource !== null })
  const found = metadata === null ? unpublished(issuer) : published(metadata)
  const server = { ...found, resource: resource?.resource ?? null, scopes: resource?.scopes_supported ?? [], metadata }
  checkEndpoints(request.guard, server)
  return server
}

const resourceMetadata = async (
  sdk: Sdk,
  { url, metadataUrl }: DiscoveryRequest,
  { fetch, statuses }: DiscoveryFetch,
): Promise<OAuthProtectedResourceMetadata | null> => {
  const places = metadataUrl === null ? [{}] : [{ resourceMetadataUrl: metadataUrl }, {}]
  for (const place of places) {
    try {
      return await sdk.discoverOAuthProtectedResourceMetadata(url, place, fetch)
    } catch (error) {
      // only the absence of a document leads on to the next place: any other failure may be of short duration
      if (isRefusal(error) || statuses.length === 0 || !statuses.every(isAbsent))
        throw failureOf(error, 'the metadata of the resource')
    }
  }
  return null
}

const isAbsent = (status: number): boolean => status >= 400 && status < 500 && status !== 429

const isRefusal = (error: unknown): boolean => error instanceof SsrfRefused || error instanceof AnswerRefused

const checkResource = (sdk: Sdk, requestedResource: string, { resource }: OAuthProtectedResourceMetadata): void => {
  if (URL.parse(resource) === null || !sdk.checkResourceAllowed({ requestedResource, configuredResource: resource }))
    throw new DiscoveryFailed('wrong_resource', 'The metadata of the server describes another resource.')
}

const issuerOf = ({ url, issuer }: DiscoveryRequest, resource: OAuthProtectedResourceMetadata | null): string => {
  const listed = resource?.authorization_servers ?? []
  if (issuer !== null && listed.length > 0 && !listed.includes(issuer))
    throw new DiscoveryFailed('wrong_issuer', 'The server names another authorization server than the configured one.')
  return issuer ?? listed[0] ?? new URL('/', url).href
}

const serverMetadata = async (
  sdk: Sdk,
  issuer: string,
  { wire, isRequired }: { readonly wire: DiscoveryFetch; readonly isRequired: boolean },
): Promise<AuthorizationServerMetadata | null> => {
  if (URL.parse(issuer) === null)
    throw new DiscoveryFailed('metadata_invalid', 'The authorization server is not a URL.')
  let found: AuthorizationServerMetadata | undefined
  try {
    found = await sdk.discoverAuthorizationServerMetadata(issuer, { fetchFn: wire.fetch })
  } catch (error) {
    if (error instanceof sdk.IssuerMismatchError)
      throw new DiscoveryFailed('wrong_issuer', 'The metadata of the authorization server names another issuer.', error)
    throw failureOf(error, 'the metadata of the authorization server')
  }
  if (found === undefined && isRequired)
    throw new DiscoveryFailed('metadata_unreachable', 'The authorization server publishes no metadata.')
  if (found !== undefined && found.code_challenge_methods_supported?.includes('S256') !== true)
    throw new DiscoveryFailed('pkce_unsupported', 'The authorization server does not support PKCE with S256.')
  return found ?? null
}

const published = (metadata: AuthorizationServerMetadata) => ({
  issuer: metadata.issuer,
  authorizationUrl: metadata.authorization_endpoint,
  tokenUrl: metadata.token_endpoint,
  revocationUrl: textOf('revocation_endpoint' in metadata ? metadata.revocation_endpoint : null),
  namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
  offersOffline: metadata.scopes_supported?.includes('offline_access') === true,
  readsClientDocuments: metadata.client_id_metadata_document_supported === true,
  authMethods: metadata.token_endpoint_auth_methods_supported ?? [],
})

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The endpoints of a server without metadata, by revision 2025-03-26 of the protocol. */
const unpublished = (issuer: string) => ({
  issuer: new URL(issuer).origin,
  authorizationUrl: new URL('/authorize', issuer).href,
  tokenUrl: new URL('/token', issuer).href,
  revocationUrl: null,
  namesIssuer: false,
  offersOffline: false,
  readsClientDocuments: false,
  authMethods: [],
})

/** Secrets and browsers are sent to these places. @throws {DiscoveryFailed} */
const checkEndpoints = (guard: Pick<SsrfGuard, 'check'>, server: DiscoveredServer): void => {
  const { authorizationUrl, tokenUrl, revocationUrl, metadata } = server
  const registrationUrl = metadata?.registration_endpoint ?? null
  for (const url of [authorizationUrl, tokenUrl, revocationUrl, registrationUrl]) {
    if (url === null) continue
    if (!isSecureUrl(url))
      throw new DiscoveryFailed('endpoint_insecure', 'An endpoint of the authorization server does not use https.')
    try {
      guard.check(url)
    } catch (error) {
      throw failureOf(error, 'an endpoint of the authorization server')
    }
  }
}

/** Converts an error of the guard, the network or the library. */
export const failureOf = (error: unknown, what: string): DiscoveryFailed => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof DiscoveryFailed) return cause
    if (cause instanceof SsrfRefused)
      return new DiscoveryFailed('address_refused', `Connections to the address of ${what} are not allowed.`, error)
    if (cause instanceof AnswerRefused || cause.name === 'ZodError' || cause instanceof SyntaxError)
      return new DiscoveryFailed('metadata_invalid', `The server returned ${what} in an invalid form.`, error)
  }
  return new DiscoveryFailed('metadata_unreachable', `The server did not return ${what}.`, error)
}
