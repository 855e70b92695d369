import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { WireFormat } from '#specs/data/providers.ts'
import type { OwnPrices } from '#specs/own-prices.ts'
import type { KeptWaits } from '../call/waits.ts'
import type { ChangedModel } from './model-diff.ts'

/** A key that cannot be opened is none: routing passes its row by until it has another. */
const lostKey = (): string => ''

/** What the last test of a connection showed; `untested` until the first, and after its key or address has changed. */
export type ConnectionStatus = 'untested' | 'ok' | 'failed'

export type ConnectionData = {
  readonly name: string
  /** Id of specs/data/providers.ts, or the project's own word for a server that no other project knows. */
  readonly provider: string
  readonly api_format: WireFormat
  /** null: the provider's own. */
  readonly base_url: string | null
  /** Sealed (`connectionKeyAad`). */
  readonly api_key: string
  readonly key_last4: string
  readonly is_active: boolean
  /** Whether the installation's key serves what this connection cannot. Absent: it does not. */
  readonly fallback_to_managed?: boolean
  /** null or absent: the prices of the list. */
  readonly prices?: OwnPrices | null
  readonly status: ConnectionStatus
  readonly last_tested_at_ms: number | null
  /** The model sync that stands: its models are the connection's. null: none was applied. */
  readonly sync_id: string | null
  readonly model_count: number
} & KeptWaits

/** Keys of a project at providers (BYOK). They have no tenant. */
export const providerConnections: TypedKind<ConnectionData> = {
  name: 'provider_connections',
  outbox: true,
  sealed: [
    {
      field: 'api_key',
      aad: (row) => connectionKeyAad(row),
      instead: lostKey,
      loss: 'the key of a provider connection: it has to be given again',
    },
  ],
}

/** A model as a provider lists it. */
export type SyncedModel = {
  readonly id: string
  /** The id again where the provider has no other word. */
  readonly name: string
  /** 0 when the provider does not say. */
  readonly context_window: number
}

/** One preview of what a provider lists. Only its status and time of application ever change. */
export type ModelSyncData = {
  readonly connection_id: string
  /** The sync that stood when the preview was made: what it is the difference to. */
  readonly base_sync_id: string | null
  /** Everything that the provider lists. */
  readonly models: readonly SyncedModel[]
  readonly added: readonly SyncedModel[]
  readonly removed: readonly SyncedModel[]
  readonly changed: readonly ChangedModel[]
  readonly status: 'preview' | 'applied'
  readonly applied_at_ms: number | null
}

/** Unapplied ones expire. */
export const modelSyncs: TypedKind<ModelSyncData> = {
  name: 'model_syncs',
  filters: ['connection_id'],
  outbox: true,
}

/** A model of a custom provider. */
export type CustomModel = {
  /** UUID. */
  readonly id: string
  /** As the server knows it. */
  readonly model_name: string
  readonly display_name: string
  readonly is_active: boolean
  /** null or absent: those of its provider. */
  readonly prices?: OwnPrices | null
}

export type CustomProviderData = {
  readonly name: string
  readonly base_url: string
  readonly api_format: 'openai' | 'anthropic'
  readonly is_active: boolean
  /** Whether the installation's key serves its models when it cannot. Absent: it does not. */
  readonly fallback_to_managed?: boolean
  /** Of models that have none of their own; null or absent: unknown. */
  readonly prices?: OwnPrices | null
  /** Sealed (`customKeyAad`); null: the server takes none. */
  readonly api_key: string | null
  /** In the row, so that they come and go with their provider. */
  readonly models: readonly CustomModel[]
} & KeptWaits

/** Servers that a project registered. They have no tenant. Ids are UUIDs that sort by time. */
export const customProviders: TypedKind<CustomProviderData> = {
  name: 'custom_providers',
  outbox: true,
  sealed: [
    {
      field: 'api_key',
      aad: (row) => customKeyAad(row),
      instead: lostKey,
      loss: 'the key of a custom provider: it has to be given again',
    },
  ],
}

export type RetiredNameData = {
  /** In lower case. */
  readonly name: string
  /** The connection or custom provider that had it. */
  readonly provider_id: string
}

/**
 * Names that providers of a project had before they were deleted or renamed, one row a name: what still names one is
 * refused (`provider_not_active`) and not taken for a model of another server. They expire.
 */
export const retiredNames: TypedKind<RetiredNameData> = { name: 'retired_provider_names' }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const connectionKinds: readonly AnyKind[] = [providerConnections, modelSyncs, customProviders, retiredNames]

interface Place {
  readonly project: string
  readonly id: string
}

/** What a connection's key is sealed for. */
export const connectionKeyAad = ({ project, id }: Place): string => `${project}|provider_connections|${id}|api_key`

/** What a custom provider's key is sealed for. */
export const customKeyAad = ({ project, id }: Place): string => `${project}|custom_providers|${id}|api_key`
