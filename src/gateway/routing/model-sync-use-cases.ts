import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Caller } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { rowTimes, timestampOrNull } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { openedOrNull } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Scope } from '#storage/index.ts'
import type { ConnectionParts } from './connection-use-cases.ts'
import { type ConnectionData, connectionKeyAad, type ModelSyncData, modelSyncs, providerConnections } from './kinds.ts'
import { modelDiff } from './model-diff.ts'
import { connectionEndpoint } from './project-providers.ts'
import { listModels, type UpstreamFailure, type UpstreamModels, withoutKey } from './upstream/upstream-models.ts'

const defaultTimeoutMs = 15_000
/** Time in ms (7 days) after which an unapplied preview, and a sync that was replaced by a later one, is deleted. */
const keptMs = 7 * 24 * 60 * 60 * 1000

/** Maximum number of attempts at an optimistic write before a change is given up; in each round one writer succeeds. */
const maxTries = 20

/**
 * Compares the models that a provider lists with those of a connection: as a preview, which can then be applied
 * unchanged.
 */
export const modelSyncUseCases = (parts: ConnectionParts): UseCasesOf<'model_syncs'> => {
  const syncs = new ModelSyncs(parts)
  return {
    'model_syncs.create': async (call) => {
      const { scope, params } = call
      return viewOf(await syncs.preview(scope, params.connection_id, newIdFor(call, 'syn')))
    },
    'model_syncs.get': async ({ scope, params }) =>
      viewOf(await syncs.get(scope, params.connection_id, params.sync_id)),
    'model_syncs.apply': async (call) => {
      const { params } = call
      return viewOf(await syncs.apply(call, params.connection_id, params.sync_id))
    },
  }
}

class ModelSyncs {
  readonly #parts: ConnectionParts
  readonly #connections: Table<ConnectionData>
  readonly #syncs: Table<ModelSyncData>

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#connections = new Table(parts.records, providerConnections, parts.now)
    this.#syncs = new Table(parts.records, modelSyncs, parts.now)
  }

  /** @throws {ServiceError} `not_found`, also for a sync of another connection. */
  async get(scope: Scope, connection: string, id: string): Promise<Row<ModelSyncData>> {
    const row = await this.#syncs.get(scope, id)
    if (row?.data.connection_id !== connection || (await this.#connections.get(scope, connection)) === null) {
      throw new ServiceError('not_found')
    }
    return row
  }

  /** Fetches the provider's list and stores the difference. @throws {ServiceError} for a failure of the provider. */
  async preview(scope: Scope, connection: string, id: string): Promise<Row<ModelSyncData>> {
    const row = orNotFound(await this.#connections.get(scope, connection))
    const found = await this.#list(row)
    if (!found.ok) throw refusalOf(found)
    const { sync_id } = row.data
    const standing = sync_id === null ? null : await this.#syncs.get(scope, sync_id)
    const data: ModelSyncData = {
      ...{ connection_id: connection, base_sync_id: sync_id, models: found.models },
      ...modelDiff(standing?.data.models ?? [], found.models),
      ...{ status: 'preview', applied_at_ms: null },
    }
    const expiresAtMs = this.#parts.now() + keptMs
    const made = await this.#syncs.insert({ id, project: scope.project, data, expiresAtMs })
    return made ?? this.get(scope, connection, id)
  }

  /**
   * Applies a sync by one write of the connection, which succeeds only if the connection still has the sync that the
   * preview is based on. The other writes are idempotent.
   *
   * @throws {ServiceError} `version_conflict` when another sync was applied since the preview.
   */
  async apply(call: Caller & { readonly scope: Scope }, connection: string, id: string) {
    const { scope } = call
    const row = await this.get(scope, connection, id)
    if (row.data.status === 'applied') return row
    const lasting = await this.#setExpiry(scope, id, null)
    const { models, base_sync_id } = lasting.data
    const edit = ({ data }: Row<ConnectionData>): ConnectionData | null => {
      if (data.sync_id === id) return null
      if (data.sync_id !== base_sync_id) throw changedMeanwhile
      return { ...data, sync_id: id, model_count: models.length }
    }
    const audited = new Audited(call, 'provider_connection')
    orNotFound(
      await this.#connections
        .change(scope, connection, { edit, notices: audited.changed('models_applied') })
        .finally(() => this.#parts.own.changed(scope.project))
        .catch(async (error: unknown) => {
          if (error instanceof ServiceError) await this.#setExpiry(scope, id, this.#parts.now() + keptMs)
          throw error
        }),
    )
    const applied = await this.#syncs.change(scope, id, {
      edit: ({ data }) =>
        data.status === 'applied' ? null : { ...data, status: 'applied', applied_at_ms: this.#parts.now() },
    })
    if (base_sync_id !== null) await this.#setExpiry(scope, base_sync_id, this.#parts.now() + keptMs).catch(ignored)
    return applied ?? lasting
  }

  async #list(row: Row<ConnectionData>): Promise<UpstreamModels> {
    const { box, guard, timeoutMs = defaultTimeoutMs } = this.#parts
    const api_key = openedOrNull(box, row.data.api_key, connectionKeyAad(row))
    if (api_key === null) return withoutKey
    return listModels({ dispatcher: guard.dispatcher, timeoutMs }, connectionEndpoint(row.id, { ...row.data, api_key }))
  }

  /** @throws {ServiceError} `not_found`, `version_conflict`. */
  async #setExpiry(scope: Scope, id: string, expiresAtMs: number | null): Promise<Row<ModelSyncData>> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = orNotFound(await this.#syncs.get(scope, id))
      if (row.expires_at === expiresAtMs) return row
      const written = await this.#syncs.replace(row, row.data, { expiresAtMs })
      if (written !== null) return written
    }
    throw new ServiceError('version_conflict')
  }
}

/** Ignores that a replaced sync could not be set to expire. */
const ignored = (error: unknown): void => {
  if (!(error instanceof ServiceError)) throw error
}

const changedMeanwhile = new ServiceError('version_conflict', {
  message: "The connection's models have changed since this preview. Create another one.",
})

const codes = {
  key_refused: 'provider_error',
  address_refused: 'invalid_field',
  timeout: 'provider_timeout',
  unreachable: 'provider_unavailable',
  provider_error: 'provider_error',
  unreadable: 'provider_error',
  no_list: 'provider_error',
} as const satisfies Record<UpstreamFailure, string>

const refusalOf = ({ trouble, message }: Extract<UpstreamModels, { ok: false }>): ServiceError =>
  new ServiceError(codes[trouble], { message, ...(trouble === 'address_refused' && { param: 'base_url' }) })

const viewOf = (row: Row<ModelSyncData>) => {
  const { base_sync_id: _base, models, applied_at_ms, ...shown } = row.data
  return {
    id: row.id,
    ...shown,
    model_count: models.length,
    applied_at: timestampOrNull(applied_at_ms),
    expires_at: timestampOrNull(row.expires_at),
    ...rowTimes(row),
  }
}
