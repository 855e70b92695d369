import type { UseCases } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type Caller, unlessSame } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes, timestampOrNull } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import type { Scope } from '#storage/index.ts'
import type { StoredKeyLimits } from '../call/pools/key-limits.ts'
import type { StoredTimeouts } from '../call/provider-timeouts.ts'
import { keyTextOf, newKeyText } from './connection-credentials.ts'
import { type Destination, destinationOf, requireKeyFor, type SureDestination } from './connection-rules.ts'
import { type ConnectionData, connectionKeyAad, type ModelSyncData, modelSyncs, providerConnections } from './kinds.ts'
import type { ProjectProviders } from './project-providers.ts'
import { nameRetirer } from './retired-names.ts'

export interface ConnectionParts extends Pick<Services, 'box' | 'now' | 'records'> {
  readonly guard: Pick<SsrfGuard, 'check' | 'dispatcher'>
  readonly own: Pick<ProjectProviders, 'changed'>
  /** Timeout in ms for answers of a provider; for tests. */
  readonly timeoutMs?: number
}

type ConnectionUseCases = Pick<UseCases, `provider_connections.${'list' | 'get' | 'create' | 'update' | 'delete'}`>

/** Provider connections: a project's own keys at providers. No answer contains the key itself. */
export const connectionUseCases = (parts: ConnectionParts): ConnectionUseCases => {
  const { box, guard, own, now } = parts
  const table = new Table(parts.records, providerConnections, now)
  const syncs = new Table(parts.records, modelSyncs, now)
  const retire = nameRetirer(parts, table, ({ provider }) => provider)
  const resource = new RecordResource({ table, idPrefix: 'pvc', view: viewOf })
  const changed = async <T>(project: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      own.changed(project)
    }
  }
  return {
    'provider_connections.list': ({ scope, query }) => resource.list(scope, query),
    'provider_connections.get': ({ scope, params }) => resource.get(scope, params.connection_id),
    'provider_connections.create': async (call) => {
      const { scope, body } = call
      const where = { project: scope.project, id: newIdFor(call, 'pvc') }
      const destination = destinationOf(guard, body)
      const text = newKeyText(guard, destination, body)
      const key = keyFields(box.seal(text, connectionKeyAad(where)), text)
      const { name, is_active, fallback_to_managed, weight, prices = null } = body
      const data = {
        ...{ name, ...destination, ...key, is_active, prices, fallback_to_managed, weight },
        ...{ ...optionsIn(body), ...untested, sync_id: null, model_count: 0 },
      }
      const notices = [audited(call).line('created', where.id)]
      return changed(scope.project, resource.create(scope, { ...where, data, notices }))
    },
    'provider_connections.update': async (call) => {
      const { scope, params, body } = call
      if (body.provider !== undefined) await retire(scope, params.connection_id, body.provider)
      const edit = ({ data, ...where }: Row<ConnectionData>) => {
        const destination = changesTarget(body) ? destinationOf(guard, leading(data, body)) : null
        const text = keyTextOf(guard, destination ?? data, body)
        const key = text === undefined ? {} : keyFields(box.seal(text, connectionKeyAad(where)), text)
        if (destination !== null) requireKeyFor(data, destination, text)
        return withChange(data, body, { destination, key })
      }
      return changed(
        scope.project,
        resource.change(scope, params.connection_id, { edit, notices: audited(call).changed() }),
      )
    },
    'provider_connections.delete': async (call) => {
      const { scope, params } = call
      await retire(scope, params.connection_id)
      const work = resource.remove(scope, params.connection_id, audited(call).removed())
      const gone = await changed(scope.project, work)
      await removeSyncs(syncs, scope, params.connection_id)
      return gone
    },
  }
}

const audited = (caller: Caller) => new Audited(caller, 'provider_connection')

const untested = { status: 'untested', last_tested_at_ms: null } as const
const shownOf = 4
/** Of a key up to this length, not even four characters are shown. */
const shortKey = 12

const keyFields = (api_key: string, key: string): Pick<ConnectionData, 'api_key' | 'key_last4'> => ({
  api_key,
  key_last4: key.length > shortKey && !key.startsWith('{') ? key.slice(-shownOf) : '',
})

type Changes = Partial<
  Pick<
    ConnectionData,
    | 'name'
    | 'provider'
    | 'api_format'
    | 'base_url'
    | 'settings'
    | 'is_active'
    | 'fallback_to_managed'
    | 'weight'
    | 'prices'
  >
> &
  Options

type Options = StoredTimeouts & StoredKeyLimits

/** Returns only the timeouts and limits that a body sets. */
const optionsIn = ({
  first_byte_timeout_ms,
  idle_timeout_ms,
  requests_per_minute,
  tokens_per_minute,
}: Options): Options => ({
  ...(requests_per_minute !== undefined && { requests_per_minute }),
  ...(tokens_per_minute !== undefined && { tokens_per_minute }),
  ...(first_byte_timeout_ms !== undefined && { first_byte_timeout_ms }),
  ...(idle_timeout_ms !== undefined && { idle_timeout_ms }),
})

const changesTarget = ({ provider, api_format, base_url, settings }: Changes): boolean =>
  [provider, api_format, base_url, settings].some((changed) => changed !== undefined)

/**
 * Returns the new address of a connection. With another provider, the format is that of the provider unless the change
 * names one.
 */
const leading = (data: ConnectionData, change: Changes): Destination => ({
  provider: change.provider ?? data.provider,
  base_url: change.base_url === undefined ? data.base_url : change.base_url,
  // settings are those of one API
  settings: change.settings ?? (change.settings === null || change.provider !== undefined ? null : data.settings),
  api_format: change.api_format ?? (change.provider === undefined ? data.api_format : undefined),
})

/** Applies a change; null when nothing changes. A change of the address or the key resets the test status. */
const withChange = (
  data: ConnectionData,
  {
    name = data.name,
    is_active = data.is_active,
    fallback_to_managed = data.fallback_to_managed ?? false,
    weight = data.weight ?? 1,
    prices = data.prices ?? null,
    ...changes
  }: Changes,
  { destination, key }: { readonly destination: SureDestination | null; readonly key: Partial<ConnectionData> },
): ConnectionData | null => {
  const isOther = destination !== null || key.api_key !== undefined
  const switches = { name, is_active, fallback_to_managed, weight, prices, ...optionsIn(changes) }
  return unlessSame(data, { ...data, ...switches, ...destination, ...key, ...(isOther ? untested : {}) })
}

const removeSyncs = async (syncs: Table<ModelSyncData>, scope: Scope, connection_id: string): Promise<void> => {
  for (;;) {
    const rows = await syncs.list(scope, { where: { connection_id }, limit: 100 })
    await Promise.all(rows.map(({ id }) => syncs.remove(scope, id)))
    if (rows.length < 100) return
  }
}

const viewOf = (row: Row<ConnectionData>) => {
  const { api_key: _sealed, last_tested_at_ms, sync_id, ...shown } = row.data
  return {
    id: row.id,
    first_byte_timeout_ms: null,
    idle_timeout_ms: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    prices: null,
    settings: null,
    weight: 1,
    ...shown,
    fallback_to_managed: shown.fallback_to_managed ?? false,
    last_tested_at: timestampOrNull(last_tested_at_ms),
    model_sync_id: sync_id,
    ...rowTimes(row),
  }
}
