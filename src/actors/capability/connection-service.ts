import type { AuditLine } from '#machines/index.ts'
import type { Json } from '#specs/dsl/json.ts'
import { Port } from './port.ts'

/**
 * A reference to a connection: by its id, or the one that the project, tenant or end user of the call has for a
 * connector. With both an id and an `owner`, the connection is a template (its server and client), and each tenant or
 * user has their own.
 */
export type ConnectionReference =
  | { readonly connection_id: string; readonly owner?: 'tenant' | 'end_user' }
  | { readonly connector: string; readonly owner: 'project' | 'tenant' | 'end_user' }

/** On whose behalf a connection is used. */
export interface ConnectionUse {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user. */
  readonly user: string | null
  readonly connection: ConnectionReference
}

/**
 * A sign-in that a person has to complete first, at `authorize_url`. The URL is null when more than a link is needed,
 * such as a key.
 */
export type RequiredConnection = {
  readonly connection_id: string
  readonly connector: string
  readonly authorize_url: string | null
  /** Expiry of the link, RFC 3339; `connections.reconnect` returns a new one. */
  readonly expires_at: string | null
}

/** What a service demanded when it refused a request with 401, by its `WWW-Authenticate`. */
export type AuthChallenge = {
  /** URL of the metadata of the protected resource; null when the service named none. */
  readonly resource_metadata: string | null
  /** Scopes that the service requires; null when it named none. */
  readonly scopes: readonly string[] | null
}

/** A usable connection. Send `headers` with each request, and use them for nothing else: they are secret. */
export interface ReadyConnection {
  readonly kind: 'ready'
  readonly connectionId: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The access token or key itself. */
  readonly token: string
  /** Identifies this version of the token, for `refused`. */
  readonly generation: number
  /** URL of the only server that the token may be sent to; null when the connection names none. */
  readonly resource: string | null
}

/** Outcome of requesting access to a connection. */
export type ConnectionAccess =
  | ReadyConnection
  | { readonly kind: 'required'; readonly required: RequiredConnection; readonly message: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

/** A remote server to which owners sign in. */
export interface RemoteServer {
  readonly project: string
  /** Id of the new connection. */
  readonly id: string
  readonly name: string
  readonly url: string
  /** The project's client at the authorization server, and scopes; a client is registered when none is given. */
  readonly config: {
    readonly client_id?: string | undefined
    readonly client_secret?: string | undefined
    readonly token_auth_method?: 'client_secret_basic' | 'client_secret_post' | 'none' | undefined
    readonly issuer?: string | undefined
    readonly scopes?: readonly string[] | undefined
  }
  readonly by: AuditLine['by']
}

/** Connections, as tools use them. */
export interface ConnectionService {
  /**
   * Returns a token that is valid for some time to come. It is refreshed when needed, and only once for all concurrent
   * callers on all nodes. When the owner has no usable connection, one is prepared, and `required` has the place to
   * sign in.
   */
  access(use: ConnectionUse): Promise<ConnectionAccess>
  /** Call this when the server answered 401 to a token: like `access`, with another token. */
  refused(use: ConnectionUse, ready: ReadyConnection): Promise<ConnectionAccess>
  /**
   * Call this when the server answered 403 because the token lacks these scopes. `required` has the place to sign in
   * for more, unless the latest sign-in has already requested all of them: then another one would not help.
   */
  insufficient(use: ConnectionUse, ready: ReadyConnection, scopes: readonly string[]): Promise<ConnectionAccess>
  /** Stores what a server demanded of the next sign-in. */
  challenged(use: ConnectionUse, challenge: AuthChallenge): Promise<void>
  /**
   * Creates the connection through which the project signs in to a remote server, whose authorization server is found
   * by discovery. It is also the template of the connections of tenants and users. Creating it again does nothing.
   *
   * @throws {ServiceError} `invalid_field`, `connection_limit_reached`
   */
  createFor(remote: RemoteServer): Promise<void>
  /** Revokes a connection of `createFor`, and those of tenants and users that are based on it. */
  withdraw(project: string, connectionId: string, by: RemoteServer['by']): Promise<void>
  /**
   * Returns why a reference cannot be used in this project; null when it can.
   *
   * @param only the tenant to which the caller is limited: of others' connections it finds the project's as templates.
   */
  missing(project: string, connection: ConnectionReference, only?: string | null): Promise<string | null>
  /**
   * Returns why these connections cannot substitute for those that an agent declares (`connectors`); null when they
   * can. Their secrets are not used.
   */
  untestable(project: string, ids: readonly string[], declared: readonly Json[]): Promise<string | null>
}

/** Connections, as tools use them. */
export const connectionService = new Port<ConnectionService>('the connections of tools')
