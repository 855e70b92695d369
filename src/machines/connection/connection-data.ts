import type { JsonObject } from '#specs/dsl/json.ts'
import type { AuditLine } from '../vocabulary.ts'

/** Waits before a refresh is tried again, in ms; the last one from then on. */
export const refreshDelaysMs: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000]

/** After so many failures in a row a connection shows `error`, though it goes on trying. */
export const failuresShown = 3

/** A revoked connection is shown so long, in ms. */
export const revokedForMs = 30 * 24 * 60 * 60 * 1000

/** Most actors that wait for one connection. */
export const maxWaiters = 1000

/** Why a sign-in, a refresh or a test failed. */
export type ConnectionError = { readonly code: string; readonly message: string }

/** A connection's durable context. Secrets are in a record beside it (specs/decisions/0166-connections.md). */
export type ConnectionContext = {
  readonly connection_id: string
  readonly connector: string
  readonly auth: 'api_key' | 'oauth2'
  readonly name: string
  readonly owner_type: 'project' | 'tenant' | 'end_user'
  readonly test_only: boolean
  /** The connection whose server and client it uses; null: its own, or the connector's. */
  readonly pattern: string | null
  /** Public part of the configuration. */
  readonly config: JsonObject
  readonly scopes: readonly string[]
  readonly granted_scopes: readonly string[] | null
  /** What the provider said that requests need, such as the URL of the account's own server. */
  readonly provided: JsonObject
  readonly key_last4: string | null
  readonly tool_count: number
  /** Whether there is a key or token to use. */
  readonly held: boolean
  /** Counts keys and tokens: the record of secrets has the same. */
  readonly generation: number
  readonly is_refreshable: boolean
  /** ms since the epoch; null for no end. */
  readonly expires_at_ms: number | null
  /** From the grant to the refresh, or to the end of what cannot be refreshed; null for never. */
  readonly refresh_in_ms: number | null
  readonly refreshed_at_ms: number | null
  readonly tested_at_ms: number | null
  readonly error: ConnectionError | null
  /** Failed refreshes in a row. */
  readonly attempts: number
  readonly delay_ms: number
  /** Webhooks heard that it does not work, and hear of its recovery. */
  readonly is_lost: boolean
  /** Actors that go on once it works. */
  readonly waiters: readonly string[]
  /** A code of the provider that is being exchanged, sealed. */
  readonly code: string | null
  readonly created_by: AuditLine['by'] | null
}

/** What starts a connection. */
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

/** Everything that can happen to a connection. */
export type ConnectionEvent =
  /** A sign-in came back with a code. */
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
  /** The token of this generation is of no use any more; null: whatever it is. */
  | { readonly type: 'refresh'; readonly generation: number | null }
  /** The service refused the token of this generation. */
  | { readonly type: 'refused'; readonly generation: number }
  /** `ended`: the grant is gone. `is_final`: trying again does not help, though the grant may be there. */
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
      /** What was granted was granted by another server. */
      readonly drops?: boolean
      readonly changes: readonly string[]
    })
  | { readonly type: 'tested'; readonly error: ConnectionError | null; readonly at: number }
  /** The actor hears `connected` as soon as the connection can be used, or `connection_ended`. */
  | { readonly type: 'wait'; readonly actor: string }
  | (By & { readonly type: 'revoke' })
  | { readonly type: 'grant_revoked' }
  | { readonly type: 'delete' }
