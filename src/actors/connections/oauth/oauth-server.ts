import { createHash } from 'node:crypto'
import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { isObject } from '#runtime/index.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { ConnectionVault } from '../connection-vault.ts'
import type { ConnectorClients } from '../connector-clients.ts'

/** An authorization server and our client there. */
export interface OAuthServer {
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly revocationUrl: string | null
  /** The server's issuer identifier; null when unknown. */
  readonly issuer: string | null
  readonly scopes: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  readonly clientId: string
  readonly clientSecret: string | null
  readonly auth: 'client_secret_basic' | 'client_secret_post' | 'none'
  /** Whether every authorization response names the issuer (RFC 9207); absent: unknown. */
  readonly namesIssuer?: boolean
  /** Resource indicator of every request (RFC 8707); null or absent for none. */
  readonly resource?: string | null
  /** Redirect URI of our client; absent: that of this server. */
  readonly redirectUri?: string
}

/** A connection whose server is to be found. */
export interface ServerOf {
  readonly project: string
  /** Id of the connection, or of its pattern. */
  readonly id: string
  readonly context: Pick<ConnectionContext, 'connector' | 'config'>
}

/**
 * Returns the server of a connection; null when the project has not configured the server or the client.
 *
 * @throws {StoreUnavailable}
 */
export const oauthServerOf = async (
  { vault, clients }: { readonly vault: ConnectionVault; readonly clients: ConnectorClients },
  { project, id, context }: ServerOf,
): Promise<OAuthServer | null> => {
  const type = connectorOf(context.connector)
  if (type === undefined || type.auth !== 'oauth2') return null
  if (type.oauth === null) {
    const { clientSecret } = await vault.open({ project, id })
    return ownServer(context.config, clientSecret)
  }
  const client = await clients.open(project, type.id)
  if (client === null) return null
  const {
    authorization_url,
    token_url,
    revocation_url,
    issuer,
    scopes,
    token_auth_method,
    parameters = {},
  } = type.oauth
  return {
    authorizationUrl: authorization_url,
    tokenUrl: token_url,
    revocationUrl: revocation_url,
    issuer,
    scopes,
    parameters,
    clientId: client.id,
    clientSecret: client.secret,
    auth: client.secret === null ? 'none' : token_auth_method,
  }
}

const ownServer = (config: JsonObject, clientSecret: string | null): OAuthServer | null => {
  const { authorization_url, token_url, client_id, token_auth_method } = config
  if (typeof authorization_url !== 'string' || typeof token_url !== 'string' || typeof client_id !== 'string')
    return null
  return {
    authorizationUrl: authorization_url,
    tokenUrl: token_url,
    revocationUrl: textOf(config.revocation_url),
    issuer: textOf(config.issuer),
    scopes: Array.isArray(config.scopes) ? config.scopes.map(String) : [],
    parameters: {},
    clientId: client_id,
    clientSecret,
    auth: authOf(token_auth_method, clientSecret),
  }
}

const authOf = (named: Json | undefined, secret: string | null): OAuthServer['auth'] => {
  if (secret === null || named === 'none') return 'none'
  return named === 'client_secret_post' ? named : 'client_secret_basic'
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

/** Returns a hash of a server and our client there. A sign-in that started with another one is not completed. */
export const serverMark = ({ authorizationUrl, tokenUrl, clientId, issuer, resource }: OAuthServer): string =>
  createHash('sha256')
    .update(JSON.stringify([authorizationUrl, tokenUrl, clientId, issuer, ...(resource ? [resource] : [])]))
    .digest('base64url')

/**
 * Whether a response with this `iss` parameter is from this server (RFC 9207). When the issuer of the server is
 * unknown, the origin must match. A response without the parameter is accepted unless the server always sends it.
 */
export const isIssuedBy = (
  { issuer, authorizationUrl, namesIssuer = false }: OAuthServer,
  named: string | undefined,
): boolean => {
  if (named === undefined) return !namesIssuer
  if (issuer !== null) return named === issuer
  return URL.parse(named)?.origin === new URL(authorizationUrl).origin
}

/** Returns the public part of a config, as connections show it. */
export const publicConfig = (config: JsonObject): JsonObject => {
  const { client_secret: _secret, openapi, ...shown } = config
  return isObject(openapi) && typeof openapi.url === 'string' ? { ...shown, openapi: { url: openapi.url } } : shown
}
