import type { ConnectionInput } from '#machines/connection/connection-data.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { statusOf } from '#machines/index.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ConnectorType } from '#specs/data/connectors/connector-type.ts'
import { connectorOf } from '#specs/data/connectors/connectors.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import { coveredWhere, type Scope, type StoredEvent } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf } from '../records/audit-note.ts'
import { filteredPage } from '../records/filtered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { contextOf, newId, storedState } from '../runtime/index.ts'
import { newIdFor, type Resident } from '../runtime/internal.ts'
import { configChange } from './config-change.ts'
import { checkConfig, shownConfig } from './connection-config.ts'
import { withinConnectionLimit } from './connection-limit.ts'
import type { ConnectionTester } from './connection-tester.ts'
import type { ConnectionVault, SecretsAt } from './connection-vault.ts'
import { connectionView, residentView } from './connection-view.ts'
import { type ConnectionRowData, connectionRows } from './kinds.ts'
import type { ConnectionTools } from './tools/connection-tools.ts'
import type { ConnectionAccesses } from './use/connection-access.ts'

export interface ConnectionParts extends Pick<Services, 'host' | 'now' | 'records'> {
  readonly vault: ConnectionVault
  readonly guard: Pick<SsrfGuard, 'check' | 'request'>
  readonly tools: ConnectionTools
  readonly accesses: ConnectionAccesses
  readonly tester: ConnectionTester
  /** @throws {ServiceError} `not_found` when the project does not have the tenant. */
  readonly checkTenant: (project: string, tenant: string) => void | Promise<void>
}

type Served = 'list' | 'get' | 'create' | 'update' | 'delete' | 'refresh' | 'test' | 'tools'
type ConnectionUseCases = Pick<UseCases, `connections.${Served}`>
type CreateCall = Parameters<UseCases['connections.create']>[0]
type UpdateCall = Parameters<UseCases['connections.update']>[0]

const filters = ['status', 'connector', 'owner_type'] as const

/** Use-cases of connections, their keys and tests. Those of sign-ins are in sign-in-use-cases.ts. */
export const connectionUseCases = (parts: ConnectionParts): ConnectionUseCases => ({
  'connections.list': (call) => listed(parts, call),
  'connections.get': async ({ scope, params }) => residentView(await found(parts, scope, params.tool_connection_id)),
  'connections.create': (call) => created(parts, call),
  'connections.update': (call) => updated(parts, call),
  'connections.delete': async (call) => {
    const connection = await found(parts, call.scope, call.params.tool_connection_id)
    await sent(parts, connection, { idempotency: call.idempotency, event: { type: 'revoke', by: actorOf(call) } })
    await parts.host.rows.shown()
    return residentView(await found(parts, call.scope, connection.id))
  },
  'connections.refresh': async (call) => {
    const connection = await found(parts, call.scope, call.params.tool_connection_id)
    await parts.accesses.renewed(connection, null)
    // the connection may have been erased with its tenant in the meantime
    return residentView(await found(parts, call.scope, connection.id))
  },
  'connections.test': async ({ scope, params }) => {
    const connection = usable(await found(parts, scope, params.tool_connection_id))
    const result = await parts.tester.test(connection)
    const event = { type: 'tested', error: result.error, at: parts.now() }
    await parts.host.deliver(connection.id, { event, cause: newId('tst') })
    const now = await found(parts, scope, connection.id)
    return { ...result, success: result.error === null, status: residentView(now).status }
  },
  'connections.tools': async ({ scope, params }) => {
    const connection = await found(parts, scope, params.tool_connection_id)
    const tools = await parts.tools.of(connection.owner.project, connection.id, stateOf(connection).context)
    const data = tools.map(({ name, description, method, path, parameters, risk_level }) => ({
      ...{ name, description, method, path, parameters, risk_level },
    }))
    return { data }
  },
})

const found = ({ host }: Pick<ConnectionParts, 'host'>, scope: Scope, id: string): Promise<Resident> =>
  host.find(scope, connectionDefinition, id)

const stateOf = (resident: Resident) => {
  const state = storedState(resident.state.snapshot)
  return { status: statusOf(connectionDefinition, state), context: contextOf(connectionDefinition, state) }
}

/** Returns the connection. @throws {ServiceError} `connection_revoked` */
export const usable = (resident: Resident): Resident => {
  if (stateOf(resident).status === 'revoked') throw new ServiceError('connection_revoked')
  return resident
}

const sent = async (
  { host }: Pick<ConnectionParts, 'host'>,
  connection: Resident,
  { event, idempotency }: Pick<CreateCall, 'idempotency'> & { readonly event: StoredEvent },
): Promise<void> => {
  await host.deliverTo(connection, { event, cause: idempotency?.cause ?? newId('req') })
}

const listed = async (
  { host, records, now }: ConnectionParts,
  { scope, query }: Parameters<UseCases['connections.list']>[0],
): Promise<ResultOf<'connections.list'>> => {
  const { limit, cursor, tenant_id, external_user_id, ...wanted } = query
  const within = ownedScope(scope, { tenant_id, external_user_id })
  if (within === null) return { data: [], next_cursor: null }
  const where = coveredWhere(connectionRows, within, wanted)
  const matches = ({ data }: Row<ConnectionRowData>) =>
    filters.every((field) => wanted[field] === undefined || data[field] === wanted[field])
  await host.rows.shown()
  const table = new Table(records, connectionRows, now)
  const page = await filteredPage(
    table,
    { idPrefix: connectionDefinition.idPrefix },
    {
      cover: { scope: within, where, matches },
      page: { limit, cursor },
    },
  )
  return { ...page, data: page.data.map(connectionView) }
}

const created = async (parts: ConnectionParts, call: CreateCall): Promise<ResultOf<'connections.create'>> => {
  const { host, vault, now } = parts
  const { scope, body } = call
  const type = typeOf(body.connector)
  const config = body.config ?? {}
  checkConfig(type, config, { whole: config, guard: parts.guard })
  checkKey(type, body.api_key)
  const owner = { ...(await ownerOf(parts, call)), project: scope.project }
  const imported = config.openapi === undefined ? null : await parts.tools.read(config.openapi)
  const id = newIdFor(call, connectionDefinition.idPrefix, host.newActorId)
  const at: SecretsAt = { id, owner }
  const held = type.auth === 'api_key' && (body.api_key !== undefined || type.id === 'http')
  const input: ConnectionInput = {
    connection_id: id,
    connector: type.id,
    auth: type.auth,
    name: body.name ?? type.name,
    owner_type: owner.type,
    test_only: body.test_only ?? false,
    pattern: null,
    config: shownConfig(config),
    scopes: config.scopes ?? type.oauth?.scopes ?? [],
    key_last4: last4(body.api_key),
    tool_count: imported?.tools.length ?? type.tools.length,
    held,
    created_by: actorOf(call),
  }
  const { project, tenant, user } = owner
  const cause = call.idempotency?.cause ?? newId('req')
  await withinConnectionLimit(parts, owner, async () => {
    if (config.client_secret !== undefined) await vault.putClientSecret(at, config.client_secret)
    if (held) await vault.putGrant(at, keyGrant(body.api_key), { generation: 1, granted: null })
    if (imported !== null) await parts.tools.put(at, imported)
    await host.create({
      kind: connectionDefinition,
      id,
      owner: { project, tenant, user, createdAt: now() },
      input,
      cause,
    })
  })
  await host.rows.shown()
  return residentView(await found(parts, scope, id))
}

/** @throws {ServiceError} `not_found` */
const typeOf = (connector: string): ConnectorType => {
  const type = connectorOf(connector)
  if (type === undefined)
    throw new ServiceError('not_found', { param: 'connector', message: 'There is no such connector.' })
  return type
}

const checkKey = ({ id, auth }: ConnectorType, key: string | undefined): void => {
  if (auth === 'oauth2' && key !== undefined)
    throw invalidField('api_key', `The connector ${id} does not accept an API key.`)
}

const keyGrant = (key: string | undefined) => ({ access_token: key ?? '', refresh_token: null })

const last4 = (key: string | undefined): string | null => (key === undefined || key.length < 12 ? null : key.slice(-4))

const ownerOf = async (parts: ConnectionParts, { scope, body }: CreateCall) => {
  const tenant = scope.tenant ?? body.tenant_id ?? null
  const user = scope.user ?? body.external_user_id ?? null
  if ((body.tenant_id ?? tenant) !== tenant) throw new ServiceError('not_found', { param: 'tenant_id' })
  if ((body.external_user_id ?? user) !== user) throw new ServiceError('not_found', { param: 'external_user_id' })
  const type = body.owner_type ?? (user !== null ? 'end_user' : tenant !== null ? 'tenant' : 'project')
  if (type !== 'project' && tenant === null) throw new ServiceError('missing_field', { param: 'tenant_id' })
  if (type === 'end_user' && user === null) throw new ServiceError('missing_field', { param: 'external_user_id' })
  if (type === 'project' && tenant !== null)
    throw invalidField('owner_type', 'A connection of the project has no tenant.')
  if (type !== 'end_user' && user !== null)
    throw invalidField('owner_type', 'A connection with a user must have owner_type end_user.')
  if (tenant !== null) await parts.checkTenant(scope.project, tenant)
  return { type, tenant, user }
}

const updated = async (parts: ConnectionParts, call: UpdateCall): Promise<ResultOf<'connections.update'>> => {
  const { scope, body, params } = call
  const connection = usable(await found(parts, scope, params.tool_connection_id))
  const { context } = stateOf(connection)
  const type = typeOf(context.connector)
  checkKey(type, body.api_key)
  const at: SecretsAt = { id: connection.id, owner: connection.owner }
  const change =
    body.config === undefined ? null : await configChange(parts, { at, type, context, config: body.config })
  const changes = Object.keys(body).filter((field) => field !== 'api_key')
  if (changes.length > 0) {
    const named = body.name === undefined ? {} : { name: body.name }
    const drops = change?.drops === true
    const event = { type: 'update', ...named, ...change?.fields, drops, changes, by: actorOf(call) }
    await change?.withdraw()
    await sent(parts, connection, { idempotency: call.idempotency, event })
    if (drops) await parts.vault.dropGrant(at)
    await change?.store()
  }
  if (body.api_key !== undefined) {
    const generation = stateOf(await found(parts, scope, connection.id)).context.generation + 1
    await parts.vault.putGrant(at, keyGrant(body.api_key), { generation, granted: null })
    const event = { type: 'key_given', generation, key_last4: last4(body.api_key), by: actorOf(call) }
    await parts.host.deliver(connection.id, { event, cause: newId('key') })
  }
  await parts.host.rows.shown()
  return residentView(await found(parts, scope, connection.id))
}
