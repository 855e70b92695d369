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
}

/** Outcome of requesting access to a connection. */
export type ConnectionAccess =
  | ReadyConnection
  | { readonly kind: 'required'; readonly required: RequiredConnection; readonly message: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

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
  /** Returns why a reference cannot be used in this project; null when it can. */
  missing(project: string, connection: ConnectionReference): Promise<string | null>
  /**
   * Returns why these connections cannot substitute for those that an agent declares (`connectors`); null when they
   * can. Their secrets are not used.
   */
  untestable(project: string, ids: readonly string[], declared: readonly Json[]): Promise<string | null>
}

/** Connections, as tools use them. */
export const connectionService = new Port<ConnectionService>('the connections of tools')
