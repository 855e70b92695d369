import {
  type ConnectionData,
  type CustomProviderData,
  connectionKeyAad,
  connectionKinds,
  customKeyAad,
  customProviders,
  type ModelSyncData,
  modelSyncs,
  providerConnections,
} from '#gateway/routing/kinds.ts'
import { type ManagedConfig, ManagedProviders } from '#gateway/routing/managed-providers.ts'
import { openRouting, type RoutingParts } from '#gateway/routing/open-routing.ts'
import { newUuidFor } from '#gateway/routing/uuid.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { readableBox } from '#test/support/open-services.ts'

/** Options of a test installation. */
export interface RoutingWorldOptions extends Partial<ManagedConfig> {
  readonly fanOut?: RoutingParts['fanOut']
  readonly records?: RecordStore
  readonly now?: () => number
  /** Loopback hosts that the guard allows. */
  readonly allowed?: readonly string[]
}

/** Routing over a store in memory that counts its list reads. */
export const openRoutingWorld = async (options: RoutingWorldOptions = {}) => {
  const records = options.records ?? openMemoryStorage().records
  await records.prepare(connectionKinds)
  const now = options.now ?? Date.now
  const reads = { count: 0 }
  const counted = new Proxy(records, {
    get: (store, name) => {
      if (name === 'list') reads.count += 1
      const member = Reflect.get(store, name)
      return typeof member === 'function' ? member.bind(store) : member
    },
  })
  const guard = openSsrfGuard({ allowedPrivateHosts: options.allowed ?? [] })
  const managed = new ManagedProviders({ keys: {}, simulated: 'off', ...options })
  const routing = openRouting({ managed, records: counted, box: readableBox, fanOut: options.fanOut, now })
  const tables = {
    connections: new Table<ConnectionData>(records, providerConnections, now),
    syncs: new Table<ModelSyncData>(records, modelSyncs, now),
    customs: new Table<CustomProviderData>(records, customProviders, now),
  }

  /** Stores a connection as the operations do. */
  const connect = async (
    given: Partial<ConnectionData> & { readonly key?: string; readonly models?: string[] } = {},
  ) => {
    const { key = 'sk-own', models, ...data } = given
    const where = { id: newId('pvc'), project: 'prj_a' }
    const sync_id = models === undefined ? null : newId('syn')
    if (sync_id !== null)
      await tables.syncs.insert({ id: sync_id, project: 'prj_a', data: syncOf(where.id, models ?? []) })
    const api_key = readableBox.seal(key, connectionKeyAad(where))
    await tables.connections.insert({ ...where, data: { ...connection, ...data, api_key, sync_id } })
    routing.own.changed('prj_a')
    return where.id
  }

  /** Stores a custom provider as the operations do; `models` are ids at its server. */
  const register = async (
    given: Partial<Omit<CustomProviderData, 'models'>> & { readonly key?: string; readonly models?: string[] } = {},
  ) => {
    const { key, models = [], ...data } = given
    const where = { id: newUuidFor({ idempotency: null }), project: 'prj_a' }
    const api_key = key === undefined ? null : readableBox.seal(key, customKeyAad(where))
    const rows = models.map((name) => ({
      id: crypto.randomUUID(),
      model_name: name,
      display_name: `My ${name}`,
      is_active: true,
    }))
    await tables.customs.insert({ ...where, data: { ...custom, ...data, api_key, models: rows } })
    routing.own.changed('prj_a')
    return where.id
  }

  /** `source provider model` of each route in order, or the code of the refusal. */
  const routed = async (model: string, project = 'prj_a', need: 'chat' | 'speech' | 'embedding' = 'chat') => {
    try {
      const routes = await routing.routes.resolve(project, model, need)
      return routes.map((route) => `${route.source} ${route.provider} ${route.model}`)
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : Promise.reject(error)
    }
  }
  const change = async (id: string, data: Partial<ConnectionData>) => {
    await tables.connections.change(projectScope('prj_a'), id, { edit: (row) => ({ ...row.data, ...data }) })
  }
  return { ...routing, guard, records, reads, tables, connect, register, routed, change }
}

const connection: ConnectionData = {
  name: 'Mine',
  provider: 'openai',
  api_format: 'openai',
  base_url: null,
  api_key: '',
  key_last4: '-own',
  is_active: true,
  status: 'untested',
  last_tested_at_ms: null,
  sync_id: null,
  model_count: 0,
}

const custom: Omit<CustomProviderData, 'api_key' | 'models'> = {
  name: 'Home',
  base_url: 'http://models.example.com/v1',
  api_format: 'openai',
  is_active: true,
}

const syncOf = (connection_id: string, models: readonly string[]): ModelSyncData => {
  const rows = models.map((id) => ({ id, name: id, context_window: 0 }))
  return {
    ...{ connection_id, base_sync_id: null, models: rows, added: rows, removed: [], changed: [] },
    ...{ status: 'applied', applied_at_ms: 1 },
  }
}
