import type { Services } from '#actors/capability/services.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { openedOrNull, type SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import type { OwnPrices } from '#specs/own-prices.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import { type FanOut, type JsonObject, projectScope, type RecordStore } from '#storage/index.ts'
import { keyLimitsOf, type StoredKeyLimits } from '../call/pools/key-limits.ts'
import { type StoredTimeouts, timeoutsOf } from '../call/provider-timeouts.ts'
import type { PoolPolicy } from '../call/routes.ts'
import { unitPrices } from '../prices/own-prices.ts'
import { filledUrl, versionedUrl } from './base-url.ts'
import {
  type ConnectionData,
  type CustomModel,
  type CustomProviderData,
  connectionKeyAad,
  customKeyAad,
  customProviders,
  modelSyncs,
  providerConnections,
  type RetiredNameData,
  retiredNames,
  type SyncedModel,
} from './kinds.ts'
import type { Endpoint } from './managed-providers.ts'
import { providerNamed } from './model-names.ts'

import { defaultPoolPolicy, poolPolicies } from './policy/pool-policies.ts'

/** Maximum delay in ms until a change by another node takes effect; without delay when nodes notify each other. */
const recheckMs = 5000
const maxCached = 10_000
const topic = 'project-providers'

/** An active connection. */
export interface OwnConnection {
  readonly id: string
  readonly name: string
  readonly endpoint: Endpoint
  /** Whether the installation's key is used after this connection. */
  readonly fallsBack: boolean
  /** Models by id from the applied sync; null when none was applied. */
  readonly models: ReadonlyMap<string, SyncedModel> | null
}

/** An active custom provider, with its active models. */
export interface OwnProvider {
  readonly id: string
  readonly name: string
  readonly endpoint: Endpoint
  /** Whether the installation's key is used after this provider. */
  readonly fallsBack: boolean
  readonly models: readonly CustomModel[]
  /** ms since the epoch. */
  readonly createdAt: number
}

/** A connection or custom provider that a request may name but that cannot serve. */
export interface AbsentProvider {
  readonly id: string
  /** In lower case: the name of a custom provider, or a connection's own name of its provider. */
  readonly name: string
  readonly reason: 'inactive' | 'deleted' | 'key_lost'
}

/** Connections and custom providers of a project, in order of creation. The same object until something changes. */
export interface OwnProviders {
  readonly connections: readonly OwnConnection[]
  readonly customs: readonly OwnProvider[]
  readonly absent: readonly AbsentProvider[]
  /**
   * Providers with an active connection whose key cannot be decrypted, unless the installation's key is used after it.
   */
  readonly locked: ReadonlySet<string>
  readonly rules: readonly RoutingRule[]
}

export interface ProjectProvidersParts extends Pick<Services, 'box' | 'now' | 'records'> {
  /** Notifies other nodes of changes; absent for a single process. */
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
}

interface Known extends OwnProviders {
  /** Ids and versions of the rows that it was built from. */
  readonly signature: string
}

/** Cached connections and custom providers of each project: in steady use no request waits for the store. */
export class ProjectProviders {
  readonly #box: SecretBox
  readonly #connections: Table<ConnectionData>
  readonly #syncs: ReturnType<typeof syncTable>
  readonly #customs: Table<CustomProviderData>
  readonly #retired: Table<RetiredNameData>
  readonly #policies: ReturnType<typeof poolPolicies>
  readonly #cache: RecheckCache<Known>
  /** The result of the last read, so that a read without changes returns the same object. */
  readonly #last = new Map<string, Known>()
  readonly #fanOut: Pick<FanOut, 'announce'> | undefined

  constructor({ records, box, fanOut, now }: ProjectProvidersParts) {
    this.#box = box
    this.#connections = new Table(records, providerConnections, now)
    this.#syncs = syncTable(records, now)
    this.#customs = new Table(records, customProviders, now)
    this.#retired = new Table(records, retiredNames, now)
    this.#policies = poolPolicies({ records, now })
    this.#fanOut = fanOut
    this.#cache = new RecheckCache({
      load: (project) => this.#load(project),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
    fanOut?.subscribe(topic, (data) => this.#heard(data))
  }

  /**
   * Returns the providers of a project; synchronously when they were read within the last seconds.
   * @throws {StoreUnavailable}
   */
  of(project: string): OwnProviders | Promise<OwnProviders> {
    return this.#cache.peek(project) ?? this.#cache.load(project).then((known) => known ?? nothing)
  }

  /**
   * Must be called after a change of a project's rows: this node reads the store again, and other nodes are notified.
   */
  changed(project: string): void {
    this.#cache.forget(project)
    this.#fanOut?.announce(topic, { project })
  }

  #heard({ project }: JsonObject): void {
    if (typeof project === 'string') this.#cache.forget(project)
  }

  async #load(project: string): Promise<Known> {
    const last = this.#last.get(project)
    const known = await this.#read(project, last)
    this.#last.delete(project)
    if (this.#last.size >= maxCached) this.#last.clear()
    if (known !== nothing) this.#last.set(project, known)
    return known
  }

  async #read(project: string, last: Known | undefined): Promise<Known> {
    const [connections, customs, retired, policy] = await Promise.all([
      this.#connections.every(projectScope(project), { ascending: true }),
      this.#customs.every(projectScope(project), { ascending: true }),
      this.#retired.every(projectScope(project), { ascending: true }),
      this.#policies.row(project),
    ])
    const rows = [...connections, ...customs, ...retired]
    const rules = policy?.data.rules ?? []
    if (rows.length + rules.length === 0) return nothing
    const signature = [...rows, ...(policy === null ? [] : [policy])]
      .map(({ id, version }) => `${id}.${version}`)
      .join()
    if (last?.signature === signature) return last
    const active = connections.filter(({ data }) => data.is_active)
    const served = {
      connections: (await Promise.all(active.map((row) => this.#connection(row, policy?.data)))).flat(),
      customs: customs.filter(({ data }) => data.is_active).flatMap((row) => this.#custom(row, policy?.data)),
    }
    const serving = new Set([...served.connections, ...served.customs].map(({ id }) => id))
    const named = [...connections.filter(hasOwnWord).map(connectionName), ...customs.map(customName)]
    const gone = retired.map(({ data }) => ({ id: data.provider_id, name: data.name, reason: 'deleted' as const }))
    const lost = active.filter(({ id, data }) => !serving.has(id) && data.fallback_to_managed !== true)
    const locked = new Set(lost.map(({ data }) => data.provider))
    return { signature, ...served, locked, rules, absent: [...named.filter(({ id }) => !serving.has(id)), ...gone] }
  }

  /** A key that cannot be decrypted disables its own connection, not all requests of the project. */
  async #connection(row: Row<ConnectionData>, policy: PoolPolicy | undefined): Promise<readonly OwnConnection[]> {
    const { name, sync_id, fallback_to_managed: fallsBack = false } = row.data
    const api_key = openedOrNull(this.#box, row.data.api_key, connectionKeyAad(row))
    if (api_key === null) return []
    const endpoint = pooled(connectionEndpoint(row.id, { ...row.data, api_key }), row.data, policy)
    const sync = sync_id === null ? null : await this.#syncs.get(projectScope(row.project), sync_id)
    const models = sync === null ? null : new Map(sync.data.models.map((model) => [model.id, model]))
    return [{ id: row.id, name, endpoint, fallsBack, models }]
  }

  #custom(row: Row<CustomProviderData>, policy: PoolPolicy | undefined): readonly OwnProvider[] {
    const { name, api_key: kept, fallback_to_managed: fallsBack = false } = row.data
    const api_key = kept === null ? null : openedOrNull(this.#box, kept, customKeyAad(row))
    if (kept !== null && api_key === null) return []
    const endpoint = pooled(customEndpoint(row.id, { ...row.data, api_key }), row.data, policy)
    const models = row.data.models.filter(({ is_active }) => is_active)
    return [{ id: row.id, name, endpoint, fallsBack, models, createdAt: row.created_at }]
  }
}

/** Adds to an endpoint its place in the pools of its models, the limits of its key, and own prices. */
const pooled = (
  endpoint: Endpoint,
  stored: Pick<ConnectionData, 'weight' | 'prices'> & StoredKeyLimits,
  { strategy, sticky }: PoolPolicy = defaultPoolPolicy,
): Endpoint => {
  const { weight = 1, prices } = stored
  const keyLimits = keyLimitsOf(stored)
  return priced({ ...endpoint, pool: { strategy, sticky }, weight, ...(keyLimits && { keyLimits }) }, prices)
}

/** Adds own prices to an endpoint, if there are any. */
export const priced = <T extends Endpoint>(endpoint: T, own: OwnPrices | null | undefined): T => {
  const ownPrices = unitPrices(own)
  return ownPrices === undefined ? endpoint : { ...endpoint, ownPrices }
}

export const connectionEndpoint = (
  id: string,
  { provider, api_format: format, base_url, settings, api_key: apiKey, ...kept }: ConnectionWay,
): Endpoint => {
  const given = settings ?? undefined
  const baseUrl = versionedUrl(format, base_url ?? filledUrl(providerNamed(provider)?.baseUrl ?? '', given), given)
  const where = { provider, format, baseUrl, ...(given !== undefined && { settings: given }) }
  return { ...where, apiKey, source: 'byok', connectionId: id, ...waiting(kept) }
}

const waiting = (kept: StoredTimeouts): Pick<Endpoint, 'waits'> => {
  const waits = timeoutsOf(kept)
  return waits === undefined ? {} : { waits }
}

/** The address fields of a connection, with its key decrypted. */
export type ConnectionWay = Pick<ConnectionData, 'provider' | 'api_format' | 'base_url' | 'settings' | 'api_key'> &
  StoredTimeouts

export const customEndpoint = (
  id: string,
  { api_format: format, base_url, api_key: apiKey, ...kept }: CustomWay,
): Endpoint => ({
  provider: `custom:${id}`,
  format,
  baseUrl: versionedUrl(format, base_url),
  apiKey,
  source: 'custom',
  connectionId: id,
  ...waiting(kept),
})

/** The address fields of a custom provider, with its key decrypted. */
type CustomWay = Pick<CustomProviderData, 'api_format' | 'base_url' | 'api_key'> & StoredTimeouts

const nothing: Known = { signature: '', connections: [], customs: [], absent: [], locked: new Set(), rules: [] }

const hasOwnWord = ({ data }: Row<ConnectionData>): boolean => providerNamed(data.provider) === undefined

const reasonOf = ({ is_active }: { readonly is_active: boolean }) => (is_active ? 'key_lost' : 'inactive')

const connectionName = ({ id, data }: Row<ConnectionData>): AbsentProvider => ({
  ...{ id, name: data.provider, reason: reasonOf(data) },
})

const customName = ({ id, data }: Row<CustomProviderData>): AbsentProvider => ({
  ...{ id, name: data.name.toLowerCase(), reason: reasonOf(data) },
})

const syncTable = (records: RecordStore, now: () => number) => new Table(records, modelSyncs, now)
