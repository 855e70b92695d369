import type { Json } from '#specs/dsl/json.ts'
import { Port } from './port.ts'

/**
 * Which connection is used: one by its id, or the one that the project, tenant or end user of the call has of a connector.
 * By its id with `owner`, that connection is the pattern (its server and client), and each tenant or user has their own.
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

/** What someone has to do first: sign in at `authorize_url`. Null where that takes more than a link, such as a key. */
export type RequiredConnection = {
  readonly connection_id: string
  readonly connector: string
  readonly authorize_url: string | null
  /** RFC 3339, when the link ends; `connections.reconnect` gives a fresh one. */
  readonly expires_at: string | null
}

/** A connection that may be used now: `headers` go with each request and with nothing else. They are secret. */
export interface ReadyConnection {
  readonly kind: 'ready'
  readonly connectionId: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The access token or key itself. */
  readonly token: string
  /** Names this very token, for `refused`. */
  readonly generation: number
}

/** What a use comes to. */
export type ConnectionAccess =
  | ReadyConnection
  | { readonly kind: 'required'; readonly required: RequiredConnection; readonly message: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

/** What connections do for tools. */
export interface ConnectionService {
  /**
   * A token that is valid for another while: it is refreshed when needed, once however many wait for it on however many
   * nodes. Where the owner has no usable connection, one is prepared and `required` says where to sign in.
   */
  access(use: ConnectionUse): Promise<ConnectionAccess>
  /** The server answered 401 to this token: as `access`, with another one. */
  refused(use: ConnectionUse, ready: ReadyConnection): Promise<ConnectionAccess>
  /** Why a reference cannot be used in this project; null when it can. */
  missing(project: string, connection: ConnectionReference): Promise<string | null>
  /**
   * Why these connections cannot stand for those that an agent declares (`connectors`); null when they can. Their secrets
   * are not used.
   */
  untestable(project: string, ids: readonly string[], declared: readonly Json[]): Promise<string | null>
}

/** What connections do for tools. */
export const connectionService = new Port<ConnectionService>('the connections of tools')
