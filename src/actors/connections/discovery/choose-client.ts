import { mcpSdk } from '#outgoing/mcp-sdk.ts'
import type { OAuthServer } from '../oauth/oauth-server.ts'
import type { SignInLinks } from '../oauth/sign-in-links.ts'
import { clientMetadata } from './client-metadata.ts'
import { type DiscoveredServer, type DiscoveryFetch, failureOf } from './discover-server.ts'
import { DiscoveryFailed } from './discovery-failed.ts'
import type { KnownClient } from './known-clients.ts'

/** What determines our client at a server. */
export interface ClientChoice {
  /** The configured client, and its issuer if it is configured too. */
  readonly config: {
    readonly client_id: string | undefined
    readonly token_auth_method: string | undefined
    readonly issuer: string | undefined
  }
  /** Secret of the configured client. */
  readonly secret: string | null
  readonly known: readonly KnownClient[]
  readonly links: Pick<SignInLinks, 'callbackUrl' | 'clientDocumentUrl' | 'callbackFor'>
  /** ms since the epoch. */
  readonly now: number
}

/**
 * Returns our client at a server: the configured one, the URL of our metadata document, the one registered before, or a
 * new one. A client belongs to one issuer, and its secret is never sent to another (specs/decisions/0166-connections.md).
 *
 * @throws {DiscoveryFailed}
 */
export const chooseClient = async (
  server: DiscoveredServer,
  choice: ClientChoice,
  wire: DiscoveryFetch,
): Promise<KnownClient> => {
  const { config, known } = choice
  if (config.client_id !== undefined) return configured(server, choice, config.client_id)
  const { clientDocumentUrl, callbackUrl, callbackFor } = choice.links
  // without the issuer in the response, a malicious server could pass on a code for a client that any server accepts
  if (server.readsClientDocuments && server.namesIssuer && clientDocumentUrl !== null)
    return clientOf(server, {
      by: 'document',
      ...{ client_id: clientDocumentUrl, client_secret: null, auth: 'none', redirect_uri: callbackUrl },
      secret_expires_at_ms: null,
    })
  const redirect_uri = server.namesIssuer ? callbackUrl : callbackFor(server.issuer)
  const before = known.find((each) => isUsable(each, { server, redirect_uri, now: choice.now }))
  return before === undefined ? registered(server, { redirect_uri, wire }) : clientOf(server, before)
}

const isUsable = (
  client: KnownClient,
  { server, redirect_uri, now }: { server: DiscoveredServer; redirect_uri: string; now: number },
): boolean =>
  client.by === 'registration' &&
  client.issuer === server.issuer &&
  client.redirect_uri === redirect_uri &&
  (client.secret_expires_at_ms ?? Number.POSITIVE_INFINITY) > now

type OwnPart = Pick<
  KnownClient,
  'by' | 'client_id' | 'client_secret' | 'auth' | 'redirect_uri' | 'secret_expires_at_ms'
>

const clientOf = (server: DiscoveredServer, own: OwnPart): KnownClient => ({
  issuer: server.issuer,
  authorization_url: server.authorizationUrl,
  token_url: server.tokenUrl,
  revocation_url: server.revocationUrl,
  names_issuer: server.namesIssuer,
  resource: server.resource,
  by: own.by,
  client_id: own.client_id,
  client_secret: own.client_secret,
  auth: own.auth,
  redirect_uri: own.redirect_uri,
  secret_expires_at_ms: own.secret_expires_at_ms,
})

/** A configured client is bound to the first issuer at which it is used. */
const configured = (
  server: DiscoveredServer,
  { config, secret, known, links }: ClientChoice,
  client_id: string,
): KnownClient => {
  const isElsewhere = ({ by, issuer, client_id: id }: KnownClient): boolean =>
    by === 'config' && id === client_id && issuer !== server.issuer
  if (config.issuer !== server.issuer && known.some(isElsewhere))
    throw new DiscoveryFailed(
      'client_of_other_issuer',
      'The server names another authorization server than the one at which the configured client was used.',
    )
  return clientOf(server, {
    ...{ by: 'config', client_id, client_secret: secret, redirect_uri: links.callbackUrl, secret_expires_at_ms: null },
    auth: methodOf(config.token_auth_method, secret, server.authMethods),
  })
}

const registered = async (
  server: DiscoveredServer,
  { redirect_uri, wire }: { redirect_uri: string; wire: DiscoveryFetch },
): Promise<KnownClient> => {
  const { metadata } = server
  if (metadata !== null && metadata.registration_endpoint === undefined)
    throw new DiscoveryFailed(
      'client_required',
      'The authorization server registers no clients. Register one there, and set client_id.',
    )
  const sdk = await mcpSdk()
  try {
    const made = await sdk.registerClient(server.issuer, {
      ...(metadata !== null && { metadata }),
      clientMetadata: {
        ...clientMetadata(redirect_uri),
        token_endpoint_auth_method: methodOf(undefined, '', server.authMethods),
      },
      // without a scope, so that later sign-ins may request more
      fetchFn: wire.fetch,
    })
    const { client_id, client_secret = null, client_secret_expires_at: ends = 0 } = made
    return clientOf(server, {
      ...{ by: 'registration', client_id, client_secret, redirect_uri },
      auth: methodOf(made.token_endpoint_auth_method, client_secret, server.authMethods),
      secret_expires_at_ms: ends > 0 ? ends * 1000 : null,
    })
  } catch (error) {
    if (error instanceof sdk.RegistrationRejectedError)
      throw new DiscoveryFailed('registration_refused', 'The authorization server refused to register a client.', error)
    throw failureOf(error, 'the registration of a client')
  }
}

const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const

/** Returns the method for the token endpoint: the named one, or the first that the server supports. */
const methodOf = (
  named: string | undefined,
  secret: string | null,
  supported: readonly string[],
): OAuthServer['auth'] => {
  const possible = methods.filter((each) => (each === 'none' ? true : secret !== null))
  return (
    possible.find((each) => each === named) ??
    possible.find((each) => supported.includes(each)) ??
    (secret === null ? 'none' : 'client_secret_basic')
  )
}
