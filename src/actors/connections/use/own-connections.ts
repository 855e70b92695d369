import { nullWhenNotFound } from '#actors/call/not-found.ts'
import type { ConnectionReference, ConnectionUse } from '#actors/capability/connection-service.ts'
import type { ConnectionContext, ConnectionInput } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { statusOf } from '#machines/index.ts'
import { Table } from '#records/table.ts'
import { contextOf, derivedId, storedState } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import { type Json, narrowedScope, projectScope, type RecordStore } from '#storage/index.ts'
import { type ConnectionRowData, connectionRows } from '../kinds.ts'
import { referenceOf } from '../tools/connector-reference.ts'

type OwnerType = ConnectionContext['owner_type']

interface Place {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
}

/** Finds the connection that a use refers to, never one of another tenant or user. */
export class OwnConnections {
  readonly #host: Host
  readonly #rows: Table<ConnectionRowData>
  readonly #now: () => number

  constructor({
    host,
    records,
    now,
  }: { readonly host: Host; readonly records: RecordStore; readonly now: () => number }) {
    this.#host = host
    this.#rows = new Table(records, connectionRows, now)
    this.#now = now
  }

  /**
   * Returns the connection, creating one if necessary; null when there is none and none can be created.
   *
   * @throws {StoreUnavailable}
   */
  async of({ project, tenant, user, connection }: ConnectionUse): Promise<Resident | null> {
    const owned = { project, tenant, user }
    if ('connector' in connection) {
      const type = connectorOf(connection.connector)
      const pattern = { connector: connection.connector, auth: type?.auth ?? 'api_key', name: type?.name ?? '' }
      return this.#ownOf(owned, connection.owner, { ...blank, ...pattern, pattern: null })
    }
    const found = await this.#found(project, connection.connection_id)
    if (found === null) return null
    const context = contextOf(connectionDefinition, storedState(found.state.snapshot))
    if (connection.owner === undefined) return this.#isFor(found, context, owned) ? found : null
    if (context.owner_type !== 'project') return null
    // no owner signs in by a revoked pattern: the use reports that it was revoked
    if (statusOf(connectionDefinition, found.state.snapshot) === 'revoked') return found
    const { connector, auth, name, config, scopes, tool_count } = context
    const made = { ...blank, connector, auth, name, config, scopes, tool_count, pattern: found.id }
    return this.#ownOf(owned, connection.owner, made)
  }

  /**
   * Returns why a reference cannot be used in this project; null when it can.
   *
   * @param only the tenant to which the caller is limited; null or absent: it is not. @throws {StoreUnavailable}
   */
  async missing(project: string, connection: ConnectionReference, only: string | null = null): Promise<string | null> {
    if ('connector' in connection) {
      const type = connectorOf(connection.connector)
      if (type === undefined) return `There is no connector ${connection.connector}.`
      if (type.base_url === null) return `The connector ${type.id} is used by the id of a connection.`
      return null
    }
    const found = await this.#found(project, connection.connection_id)
    const isTemplate = connection.owner !== undefined && found?.owner.tenant === null
    if (found === null || (only !== null && found.owner.tenant !== only && !isTemplate))
      return `There is no connection ${connection.connection_id}.`
    const { owner_type, test_only } = contextOf(connectionDefinition, storedState(found.state.snapshot))
    if (test_only) return `The connection ${connection.connection_id} is for tests only.`
    if (connection.owner !== undefined && owner_type !== 'project')
      return `The connection ${connection.connection_id} is not the project's: it is no pattern for others.`
    return null
  }

  /**
   * Returns why test connections cannot replace the ones that an agent declares; null when they can.
   *
   * @throws {StoreUnavailable}
   */
  async untestable(project: string, ids: readonly string[], declared: readonly Json[]): Promise<string | null> {
    const tests: ConnectionContext[] = []
    for (const id of ids) {
      const found = await this.#found(project, id)
      const state = found === null ? null : storedState(found.state.snapshot)
      const context = state === null ? null : contextOf(connectionDefinition, state)
      if (state === null || context === null || !context.test_only || context.owner_type !== 'project')
        return `There is no test connection ${id} of the project.`
      if (statusOf(connectionDefinition, state) !== 'active') return `The test connection ${id} is not active.`
      tests.push(context)
    }
    return declared.map((each) => scopesMissing(each, tests)).find((message) => message !== null) ?? null
  }

  #found(project: string, id: string): Promise<Resident | null> {
    return this.#host.find(projectScope(project), connectionDefinition, id).catch(nullWhenNotFound)
  }

  #isFor({ owner }: Resident, { owner_type, test_only }: ConnectionContext, place: Place): boolean {
    if (test_only || owner.project !== place.project) return false
    if (owner_type === 'project') return true
    if (owner.tenant !== place.tenant) return false
    return owner_type === 'tenant' || (owner.user !== null && owner.user === place.user)
  }

  async #ownOf(place: Place, ownerType: OwnerType, made: Omit<ConnectionInput, 'connection_id' | 'owner_type'>) {
    const owner = ownerOf(place, ownerType)
    if (owner === null) return null
    const own = await this.#newest(owner, `${made.pattern ?? made.connector} ${ownerType}`)
    return own ?? this.#prepared(owner, { ...made, owner_type: ownerType })
  }

  /** Returns the newest active connection, or else the newest that is neither revoked nor for tests. */
  async #newest(owner: Place, use_key: string): Promise<Resident | null> {
    await this.#host.rows.shown()
    const scope = narrowedScope(projectScope(owner.project), { tenant: owner.tenant, user: owner.user })
    const rows = await this.#rows.list(scope, { where: { use_key }, limit: 100 })
    const own = rows.filter(({ tenant, user, data }) => {
      const isOwn = tenant === owner.tenant && user === owner.user
      return isOwn && !data.test_only && data.status !== 'revoked'
    })
    const best = own.find(({ data }) => data.status === 'active') ?? own[0]
    return best === undefined ? null : this.#found(owner.project, best.id)
  }

  /** Creates a connection that waits for its owner. The id is derived, so that concurrent uses create the same one. */
  async #prepared(owner: Place, input: Omit<ConnectionInput, 'connection_id'>): Promise<Resident | null> {
    const { project, tenant, user } = owner
    const day = Math.floor(this.#now() / dayMs) * dayMs
    const key = JSON.stringify([project, tenant, user, input.pattern ?? input.connector, input.owner_type])
    for (let tried = 0; tried < maxPrepared; tried++) {
      const id = derivedId(connectionDefinition.idPrefix, day, `${key} ${tried}`)
      await this.#host.create({
        kind: connectionDefinition,
        id,
        owner: { ...owner, createdAt: this.#now() },
        input: { ...input, connection_id: id },
        cause: 'prepared',
      })
      const found = await this.#found(project, id)
      if (found !== null && statusOf(connectionDefinition, found.state.snapshot) !== 'revoked') return found
    }
    return null
  }
}

const scopesMissing = (declared: Json, tests: readonly ConnectionContext[]): string | null => {
  const reference = referenceOf(declared)
  if (reference === null || !('connector' in reference.named)) return null
  const { connector } = reference.named
  const test = tests.find((each) => each.connector === connector)
  if (test === undefined) return null
  const has = test.granted_scopes ?? test.scopes
  const missing = reference.scopes.find((scope) => !has.includes(scope))
  return missing === undefined ? null : `The test connection of ${connector} lacks the scope ${missing}.`
}

const dayMs = 24 * 60 * 60 * 1000
/** Maximum number of ids tried per day: the id of a connection that was revoked on the same day is not reused. */
const maxPrepared = 20

const ownerOf = ({ project, tenant, user }: Place, type: OwnerType): Place | null => {
  if (type === 'project') return { project, tenant: null, user: null }
  if (tenant === null) return null
  if (type === 'tenant') return { project, tenant, user: null }
  return user === null ? null : { project, tenant, user }
}

const blank = {
  test_only: false,
  config: {},
  scopes: [],
  key_last4: null,
  tool_count: 0,
  held: false,
  created_by: null,
} as const
