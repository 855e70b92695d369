import type { OAuthServer } from '../oauth/oauth-server.ts'

/** Our client at a discovered authorization server, with what tokens of it need. Stored sealed. */
export type KnownClient = {
  readonly issuer: string
  readonly authorization_url: string
  readonly token_url: string
  readonly revocation_url: string | null
  readonly names_issuer: boolean
  readonly resource: string | null
  /** `config`: given by the project; `document`: the URL of our metadata document; `registration`: made by the server. */
  readonly by: 'config' | 'document' | 'registration'
  readonly client_id: string
  readonly client_secret: string | null
  readonly auth: OAuthServer['auth']
  readonly redirect_uri: string
  readonly secret_expires_at_ms: number | null
}

/** Maximum number of issuers of one connection whose clients are kept; beyond it, the oldest is dropped. */
export const maxKnownClients = 8

/** Returns the clients with another one, which replaces an earlier one of the same issuer. */
export const withClient = (clients: readonly KnownClient[], client: KnownClient): readonly KnownClient[] =>
  [...clients.filter(({ issuer }) => issuer !== client.issuer), client].slice(-maxKnownClients)

/** Parses stored clients. Only this folder writes them. */
export const knownClientsOf = (text: string): readonly KnownClient[] => JSON.parse(text)

/** Returns the authorization server of a client. */
export const serverOfClient = (client: KnownClient): OAuthServer => ({
  authorizationUrl: client.authorization_url,
  tokenUrl: client.token_url,
  revocationUrl: client.revocation_url,
  issuer: client.issuer,
  scopes: [],
  parameters: {},
  clientId: client.client_id,
  clientSecret: client.client_secret,
  auth: client.auth,
  namesIssuer: client.names_issuer,
  resource: client.resource,
  redirectUri: client.redirect_uri,
})
