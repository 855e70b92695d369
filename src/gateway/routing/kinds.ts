import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { ProviderSettings } from '#specs/data/provider-credentials.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { OwnPrices } from '#specs/own-prices.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import type { JsonObject } from '#storage/index.ts'
import type { StoredKeyLimits } from '../call/pools/key-limits.ts'
import type { StoredTimeouts } from '../call/provider-timeouts.ts'
import type { PoolPolicy } from '../call/routes.ts'
import type { ChangedModel } from './model-diff.ts'

/** Replaces a sealed key that cannot be opened: routing skips the row until a new key is set. */
const lostKey = (): string => ''

/**
 * Result of the last test of a connection; `untested` before the first test, and after its key or address has changed.
 */
type ConnectionStatus = 'untested' | 'ok' | 'failed'

export type ConnectionData = {
  readonly name: string
  /** Id of specs/data/providers.ts, or the project's own name for another server. */
  readonly provider: string
  readonly api_format: WireFormat
  /** null: the default URL of the provider. */
  readonly base_url: string | null
  /** Absent or null: none. */
  readonly settings?: ProviderSettings | null
  /** A key, or the credentials of a cloud as JSON; sealed (`connectionKeyAad`). */
  readonly api_key: string
  readonly key_last4: string
  readonly is_active: boolean
  /** Whether the installation's key is used when this connection fails. Absent: it is not. */
  readonly fallback_to_managed?: boolean
  /** Share of the calls of models that several providers serve. Absent: 1. */
  readonly weight?: number
  /** null or absent: the prices of the price list. */
  readonly prices?: OwnPrices | null
  readonly status: ConnectionStatus
  readonly last_tested_at_ms: number | null
  /** Id of the applied model sync, which determines the connection's models. null: none was applied. */
  readonly sync_id: string | null
  readonly model_count: number
} & StoredTimeouts &
  StoredKeyLimits

/** Provider connections: a project's own keys at providers (BYOK). They have no tenant. */
export const providerConnections: TypedKind<ConnectionData> = {
  name: 'provider_connections',
  outbox: true,
  sealed: [
    {
      field: 'api_key',
      aad: (row) => connectionKeyAad(row),
      instead: lostKey,
      sentTo: ['base_url', 'settings'],
      loss: 'the key of a provider connection: it has to be given again',
    },
  ],
}

/** A model as a provider lists it. */
export type SyncedModel = {
  readonly id: string
  /** The id again when the provider gives no other name. */
  readonly name: string
  /** In tokens; 0 when the provider does not report it. */
  readonly context_window: number
}

/** A preview of the models that a provider lists. After creation, only its status and application time change. */
export type ModelSyncData = {
  readonly connection_id: string
  /** The sync that was applied when the preview was made; the differences are relative to it. */
  readonly base_sync_id: string | null
  /** All models that the provider lists. */
  readonly models: readonly SyncedModel[]
  readonly added: readonly SyncedModel[]
  readonly removed: readonly SyncedModel[]
  readonly changed: readonly ChangedModel[]
  readonly status: 'preview' | 'applied'
  readonly applied_at_ms: number | null
}

/** Model syncs; those that are not applied expire. */
export const modelSyncs: TypedKind<ModelSyncData> = {
  name: 'model_syncs',
  filters: ['connection_id'],
  outbox: true,
}

/** A model of a custom provider. */
export type CustomModel = {
  /** UUID. */
  readonly id: string
  /** Name of the model on the server. */
  readonly model_name: string
  readonly display_name: string
  readonly is_active: boolean
  /** null or absent: the prices of its provider. */
  readonly prices?: OwnPrices | null
}

export type CustomProviderData = {
  readonly name: string
  readonly base_url: string
  readonly api_format: 'openai' | 'anthropic'
  readonly is_active: boolean
  /** Whether the installation's key serves its models when it fails. Absent: it does not. */
  readonly fallback_to_managed?: boolean
  /** Share of the calls of models that several providers serve. Absent: 1. */
  readonly weight?: number
  /** For models without prices of their own; null or absent: unknown. */
  readonly prices?: OwnPrices | null
  /** Sealed (`customKeyAad`); null: the server requires none. */
  readonly api_key: string | null
  /** Stored in the row, so that they are created and deleted with their provider. */
  readonly models: readonly CustomModel[]
} & StoredTimeouts &
  StoredKeyLimits

/** Custom providers: servers that a project registered. They have no tenant. Ids are UUIDs that sort by time. */
export const customProviders: TypedKind<CustomProviderData> = {
  name: 'custom_providers',
  outbox: true,
  sealed: [
    {
      field: 'api_key',
      aad: (row) => customKeyAad(row),
      instead: lostKey,
      sentTo: ['base_url'],
      loss: 'the key of a custom provider: it has to be given again',
    },
  ],
}

export type RetiredNameData = {
  /** In lower case. */
  readonly name: string
  /** Id of the connection or custom provider that had the name. */
  readonly provider_id: string
}

/**
 * Former names of deleted or renamed providers of a project, one row per name. A request that still uses one is refused
 * (`provider_not_active`) instead of being sent to another server. Rows expire.
 */
export const retiredNames: TypedKind<RetiredNameData> = { name: 'retired_provider_names' }

export type RoutingPolicyData = PoolPolicy & { readonly rules: readonly RoutingRule[] } & JsonObject

/** Stores at most one row per project; there is none until the policy is first changed. */
export const routingPolicies: TypedKind<RoutingPolicyData> = { name: 'routing_policies', outbox: true }

/** All record kinds of routing, for `RecordStore.prepare`. */
export const connectionKinds: readonly AnyKind[] = [
  ...[providerConnections, modelSyncs, customProviders, retiredNames, routingPolicies],
]

interface Place {
  readonly project: string
  readonly id: string
}

/** Additional authenticated data for sealing a connection's key. */
export const connectionKeyAad = ({ project, id }: Place): string => `${project}|provider_connections|${id}|api_key`

/** Additional authenticated data for sealing a custom provider's key. */
export const customKeyAad = ({ project, id }: Place): string => `${project}|custom_providers|${id}|api_key`
