import type { ConnectionService } from '#actors/capability/connection-service.ts'
import { statusOf } from '#machines/index.ts'
import type { McpServerInput } from '#machines/mcp-server/mcp-server.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { credentialAddress } from '#outgoing/credential-address.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxServers } from '#specs/resources/mcp/mcp-limits.ts'
import { projectScope, type StoredRecord } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import { isOfTenants } from '../call/reach.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import { requireReachable } from '../capability/reachable-url.ts'
import type { Services } from '../capability/services.ts'
import { actorOf } from '../records/audit-note.ts'
import { type CountedLimit, CountedLimits } from '../records/counted-limits.ts'
import { pageOf } from '../records/pages.ts'
import { rowOf } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor, type Resident } from '../runtime/internal.ts'
import { contentUseCases, withOwnTarget } from './content-use-cases.ts'
import { serverRows } from './kinds.ts'
import { causeOf, McpServers } from './mcp-servers.ts'
import { checkedHeaders, type ServerHeaders } from './server-headers.ts'
import { isSignIn, plannedAuth, signInLink, withdrawn } from './server-sign-in.ts'
import { newestChanges, residentView, serverContext, serverView } from './server-view.ts'
import { testServer } from './test-server.ts'
import type { ToolFindings } from './tool-findings.ts'

export interface ServerUseCaseParts extends Pick<Services, 'clock' | 'host' | 'records'> {
  readonly guard: Pick<SsrfGuard, 'check' | 'request'>
  readonly headers: ServerHeaders
  readonly connections: ConnectionService
  readonly findings: Pick<ToolFindings, 'views'>
  /** @throws {ServiceError} `not_found` when the project does not have the tenant. */
  readonly checkTenant: (project: string, tenant: string) => void | Promise<void>
}

type CreateCall = Parameters<UseCases['mcp_servers.create']>[0]
type UpdateCall = Parameters<UseCases['mcp_servers.update']>[0]

/** Use-cases of remote servers: registration, changes, tests, and the review of their tools. */
export const serverUseCases = (parts: ServerUseCaseParts): UseCasesOf<'mcp_servers'> => {
  const servers = new McpServers(parts)
  const table = new Table(parts.records, serverRows, parts.clock.now)
  return {
    'mcp_servers.create': (call) => register(parts, servers, call),
    'mcp_servers.list': async ({ scope, query: { status, ...page } }) => {
      await parts.host.rows.shown()
      const query = status === undefined ? page : { ...page, where: { status } }
      const shown = {
        idPrefix: mcpServerDefinition.idPrefix,
        view: (row: StoredRecord) => serverView(rowOf(serverRows, row)),
      }
      return pageOf(table, scope, { query, shown })
    },
    'mcp_servers.get': async ({ scope, params }) => residentView(await servers.find(scope, params.server_id)),
    'mcp_servers.update': (call) => update(parts, servers, call),
    'mcp_servers.delete': async (call) => {
      const server = await servers.find(call.scope, call.params.server_id)
      await servers.give(server, { type: 'disable', by: { ...actorOf(call) } }, call.idempotency)
      await parts.host.rows.shown()
      return residentView(await servers.find(call.scope, server.id))
    },
    'mcp_servers.refresh_tools': async ({ scope, params, idempotency }) => {
      await servers.give(await servers.find(scope, params.server_id), { type: 'refresh' }, idempotency)
      const server = await servers.settled(scope, params.server_id)
      const context = serverContext(server)
      if (context.error !== null)
        throw new ServiceError('mcp_server_failed', { message: `${context.error.message} (${context.error.code})` })
      const { snapshot_at, hash } = residentView(server)
      const tools = await parts.findings.views(context, scope)
      return { ...newestChanges(context), tools, snapshot_at, hash }
    },
    'mcp_servers.test': async ({ scope, params }) => tested(parts, await servers.find(scope, params.server_id)),
    'mcp_servers.tools': async ({ scope, params, query: { state } }) => {
      const server = await servers.find(scope, params.server_id)
      const context = serverContext(server)
      const { snapshot_at, hash } = residentView(server)
      const all = await parts.findings.views(context, scope)
      const tools = all.filter((tool) => state === undefined || tool.state === state)
      return { tools, snapshot_at, hash, ...newestChanges(context) }
    },
    ...contentUseCases(parts, servers),
    'mcp_servers.review_tool': async (call) => {
      const { scope, params, body, idempotency } = call
      const server = await servers.find(scope, params.server_id)
      const { decision, reason = null, hash = null } = body
      const by = { ...actorOf(call) }
      const event = { type: 'review', tool: params.tool_name, decision, reason, hash, by, at: parts.clock.now() }
      await servers.give(server, event, idempotency)
      const after = serverContext(await servers.find(scope, server.id))
      const found = (await parts.findings.views(after, scope)).find(({ name }) => name === params.tool_name)
      return orNotFound(found, 'tool_name')
    },
  }
}

const tested = (parts: ServerUseCaseParts, server: Resident) =>
  testServer(parts, (use) => withOwnTarget(parts, server, use))

/** Returns the tenant of a new server. @throws {ServiceError} `not_found` when the caller does not have the tenant */
const tenantOf = async ({ checkTenant }: ServerUseCaseParts, { scope, body }: CreateCall): Promise<string | null> => {
  const tenant = scope.tenant ?? body.tenant_id ?? null
  if (scope.tenant !== null && (body.tenant_id ?? scope.tenant) !== scope.tenant)
    throw new ServiceError('not_found', { param: 'tenant_id' })
  if (tenant !== null) await checkTenant(scope.project, tenant)
  return tenant
}

const register = async (parts: ServerUseCaseParts, servers: McpServers, call: CreateCall) => {
  const { scope, body, idempotency } = call
  const { host, guard, clock } = parts
  requireReachable(guard, body.url)
  const headers = checkedHeaders(body.headers ?? {})
  const tenant = await tenantOf(parts, call)
  const limit: CountedLimit = {
    max: maxServers,
    rows: host.rows,
    count: () => parts.records.count(serverRows, projectScope(scope.project), {}),
    full: () => new ServiceError('mcp_limit_reached'),
  }
  const id = newIdFor(call, mcpServerDefinition.idPrefix, host.newActorId)
  const owner = { project: scope.project, tenant, user: null, createdAt: clock.now() }
  const { name, url, transport, timeout_ms, trust } = body
  const isLimited = isOfTenants(call.principal)
  const place = { project: scope.project, tenant, id, name, url, by: actorOf(call), isLimited, revision: '' }
  const auth = await plannedAuth(parts.connections, place, body.auth)
  const input: McpServerInput = {
    ...{ server_id: id, name, url, transport, timeout_ms, trust, auth: auth.stored },
    header_names: Object.keys(headers),
    created_by: { ...actorOf(call) },
  }
  await CountedLimits.at(parts.records).within(`mcp ${scope.project}`, limit, async () => {
    await auth.create()
    if (Object.keys(headers).length > 0) await parts.headers.keep({ ...owner, id, url }, headers)
    await host.create({ kind: mcpServerDefinition, id, owner, input, cause: causeOf(idempotency) })
  })
  const server = await servers.settled(scope, id)
  const context = serverContext(server)
  const tools = await parts.findings.views(context, scope)
  return { ...residentView(server), tools, authorize_url: await signInLink(parts, server) }
}

const update = async (parts: ServerUseCaseParts, servers: McpServers, call: UpdateCall) => {
  const { scope, params, body, idempotency } = call
  const server = await servers.find(scope, params.server_id)
  const before = serverContext(server)
  const by = { ...actorOf(call) }
  if (body.url !== undefined) requireReachable(parts.guard, body.url)
  const url = body.url ?? before.url
  const headers = body.headers === undefined ? null : checkedHeaders(body.headers ?? {})
  const leaves = credentialAddress(url) !== credentialAddress(before.url)
  const { project, tenant } = server.owner
  if (headers !== null) await parts.headers.keep({ project, tenant, id: server.id, url }, headers)
  const header_names = headers !== null ? Object.keys(headers) : leaves ? [] : undefined
  const leavesAuth = isSignIn(before.auth) ? url !== before.url : leaves
  const place = {
    project,
    tenant,
    id: server.id,
    name: body.name ?? before.name,
    url,
    by,
    isLimited: isOfTenants(call.principal),
    revision: causeOf(idempotency),
  }
  const planned =
    body.auth === undefined && !leavesAuth
      ? undefined
      : await plannedAuth(parts.connections, { ...place, before: leavesAuth ? null : before.auth }, body.auth)
  await planned?.create()
  // before the server forgets it: a request that is repeated after a crash revokes the rest
  if (planned !== undefined)
    await withdrawn(parts.connections, { project, by }, { before: before.auth, after: planned.stored })
  const auth = planned?.stored
  const { name, transport, timeout_ms } = body
  const fields = {
    ...(name !== undefined && { name }),
    ...(body.url !== undefined && { url }),
    ...(transport !== undefined && { transport }),
    ...(timeout_ms !== undefined && { timeout_ms }),
    ...(header_names !== undefined && { header_names }),
    ...(auth !== undefined && { auth }),
  }
  const moves =
    url !== before.url || headers !== null || auth !== undefined || (transport ?? before.transport) !== before.transport
  if (Object.keys(fields).length > 0) await servers.give(server, { type: 'update', fields, moves, by }, idempotency)
  const isEnabled = statusOf(mcpServerDefinition, server.state.snapshot) !== 'disabled'
  if (body.enabled !== undefined && body.enabled !== isEnabled) {
    const cause = idempotency && { ...idempotency, cause: `${idempotency.cause}:enabled` }
    await servers.give(server, { type: body.enabled ? 'enable' : 'disable', by }, cause)
  }
  return residentView(await servers.settled(scope, server.id))
}
