import type { JsonObject } from '#specs/dsl/json.ts'
import type { AuditLine } from '../index.ts'

/** Delays before a refresh is retried, in ms; the last one applies to all further retries. */
export const refreshDelaysMs: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000]

/** After this many consecutive failures a connection shows `error`, although it continues to retry. */
export const failuresShown = 3

/** How long a revoked connection is shown, in ms. */
export const revokedForMs = 30 * 24 * 60 * 60 * 1000

/** Most actors that can wait for one connection. */
export const maxWaiters = 1000

/** Most sign-ins for more scopes that a service can cause within `stepUpWindowMs`. */
export const maxStepUps = 5

/** Period in ms over which sign-ins for more scopes are counted. */
export const stepUpWindowMs = 24 * 60 * 60 * 1000

/** Most scopes of a connection. */
export const maxScopes = 100

/** Why a sign-in, a refresh or a test failed. */
export type ConnectionError = { readonly code: string; readonly message: string }

/** A connection's durable context. Its secrets are in a separate record (specs/decisions/0166-connections.md). */
export type ConnectionContext = {
  readonly connection_id: string
  readonly connector: string
  readonly auth: 'api_key' | 'oauth2'
  readonly name: string
  readonly owner_type: 'project' | 'tenant' | 'end_user'
  readonly test_only: boolean
  /** Id of the connection whose server and client it uses; null: its own, or the connector's. */
  readonly pattern: string | null
  /** The public part of the configuration. */
  readonly config: JsonObject
  readonly scopes: readonly string[]
  readonly granted_scopes: readonly string[] | null
  /** Scopes that the service requires for a call and that no sign-in has requested yet; the grant works for others. */
  readonly missing_scopes: readonly string[]
  /** Number of times that the service required more scopes, counted from `stepped_up_at_ms`. */
  readonly step_ups: number
  readonly stepped_up_at_ms: number | null
  /** Values from the provider that requests need, such as the URL of the account's own server. */
  readonly provided: JsonObject
  readonly key_last4: string | null
  readonly tool_count: number
  /** Whether it holds a usable key or token. */
  readonly held: boolean
  /** Number of the current key or token; the record of secrets has the same number. */
  readonly generation: number
  readonly is_refreshable: boolean
  /** Expiry in ms since the epoch; null for none. */
  readonly expires_at_ms: number | null
  /** Time from the grant to its refresh, or to its expiry if it cannot be refreshed; null for never. */
  readonly refresh_in_ms: number | null
  readonly refreshed_at_ms: number | null
  readonly tested_at_ms: number | null
  readonly error: ConnectionError | null
  /** Consecutive failed refreshes. */
  readonly attempts: number
  readonly delay_ms: number
  /** Whether webhooks were notified that it does not work, so that they are also notified of its recovery. */
  readonly is_lost: boolean
  /** Actors to notify once it works. */
  readonly waiters: readonly string[]
  /** An authorization code that is being exchanged, sealed; else null. */
  readonly code: string | null
  readonly created_by: AuditLine['by'] | null
}

/** Input of a new connection. */
export type ConnectionInput = Pick<
  ConnectionContext,
  | 'connection_id'
  | 'connector'
  | 'auth'
  | 'name'
  | 'owner_type'
  | 'test_only'
  | 'pattern'
  | 'config'
  | 'scopes'
  | 'key_last4'
  | 'tool_count'
  | 'held'
  | 'created_by'
>

type By = { readonly by: AuditLine['by'] }

/** All events of a connection. */
export type ConnectionEvent =
  /** A sign-in returned with a code. */
  | (By & { readonly type: 'authorized'; readonly code: string; readonly scopes: readonly string[] })
  | {
      readonly type: 'granted'
      readonly generation: number
      readonly is_refreshable: boolean
      readonly expires_at_ms: number | null
      readonly refresh_in_ms: number | null
      readonly granted_scopes: readonly string[] | null
      readonly provided: JsonObject
      readonly at: number
    }
  | { readonly type: 'exchange_failed'; readonly error: ConnectionError }
  /** The token of this generation has become useless; null: the current one, whatever its generation. */
  | { readonly type: 'refresh'; readonly generation: number | null }
  /** The service refused the token of this generation. */
  | { readonly type: 'refused'; readonly generation: number }
  /** The service refused the token of this generation for a call because it lacks these scopes. */
  | {
      readonly type: 'scopes_required'
      readonly generation: number
      readonly scopes: readonly string[]
      readonly at: number
    }
  /** `ended`: the grant is gone. `is_final`: a retry would not help, although the grant may still exist. */
  | {
      readonly type: 'refresh_failed'
      readonly error: ConnectionError
      readonly ended: boolean
      readonly is_final: boolean
      readonly jitter: number
    }
  | (By & { readonly type: 'key_given'; readonly generation: number; readonly key_last4: string | null })
  | (By & {
      readonly type: 'update'
      readonly name?: string
      readonly config?: JsonObject
      readonly scopes?: readonly string[]
      readonly tool_count?: number
      /** Set when the current grant is from another server and must be dropped. */
      readonly drops?: boolean
      readonly changes: readonly string[]
    })
  | { readonly type: 'tested'; readonly error: ConnectionError | null; readonly at: number }
  /** The actor is sent `connected` as soon as the connection is usable, or `connection_ended`. */
  | { readonly type: 'wait'; readonly actor: string }
  | (By & { readonly type: 'revoke' })
  | { readonly type: 'grant_revoked' }
  | { readonly type: 'delete' }
