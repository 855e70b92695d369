import { noTenant } from '#actors/call/not-found.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import { projectScope, type Scope, tenantScope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { actorOf } from '../records/audit-note.ts'
import { pageOf } from '../records/pages.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { shownTools, type ToolHeaders } from '../sessions/tools/tool-headers.ts'
import type { TenantData } from '../tenants/kinds.ts'
import type { RatePlanData } from '../usage/kinds.ts'
import type { InstallationChange, Installations } from './installations.ts'
import type { AgentData } from './kinds.ts'
import { type InstallationData, installationKeys } from './kinds.ts'
import { noAgent, requireStillThere } from './still-there.ts'

export interface InstallationDeps {
  readonly installations: Installations
  readonly toolHeaders: Pick<ToolHeaders, 'keepConfig'>
  readonly agents: Pick<Table<AgentData>, 'get'>
  readonly tenants: Pick<Table<TenantData>, 'get'>
  readonly plans: Pick<Table<RatePlanData>, 'get'>
  /** Called when the config of an installation has changed. */
  readonly changed: () => void
}

/** Use-cases of tenants' installations of agents (`installations.*`). */
export const installationUseCases = (deps: InstallationDeps): UseCasesOf<'installations'> => {
  const { installations, changed } = deps
  const shown = async (work: Promise<Row<InstallationData>>) => {
    const row = await work
    changed()
    return viewOf(row)
  }
  return {
    'installations.list': ({ scope, query }) => {
      const { tenant_id, agent_id, status, limit, cursor } = query
      const within = tenant_id === undefined ? scope : tenantScope(scope.project, tenant_id)
      const page = { limit, cursor, where: conditionOf(tenant_id, agent_id, status) }
      return pageOf(installations.table, within, { query: page, shown: { idPrefix: 'ins', view: viewOf } })
    },
    'installations.get': async ({ scope, params }) => viewOf(await installations.get(scope, params.installation_id)),
    'installations.create': (call) => shown(created(deps, call)),
    'installations.update': async (call) => {
      const { scope, params, body } = call
      await requirePlan(deps, scope, body.rate_plan_id)
      const changes = await keptChange(deps, body, await installations.get(scope, params.installation_id))
      return shown(
        ofAgent(deps, call, installations.change(scope, params.installation_id, { changes, by: actorOf(call) })),
      )
    },
    'installations.delete': (call) =>
      shown(
        installations.change(call.scope, call.params.installation_id, {
          changes: { status: 'disabled' },
          by: actorOf(call),
        }),
      ),
    'installations.upgrade': (call) => {
      const version = call.body.version ?? null
      return shown(installations.upgrade(call.scope, call.params.installation_id, { version, mover: moverOf(call) }))
    },
    'installations.rollback': (call) =>
      shown(installations.rollback(call.scope, call.params.installation_id, moverOf(call))),
  }
}

const moverOf = (call: Call<unknown, unknown, unknown>): InstallationChange => ({
  by: actorOf(call),
  cause: call.idempotency?.cause ?? null,
})

/** Combines the filters of a list into one condition, which a single index answers. */
const conditionOf = (
  tenant: string | undefined,
  agent: string | undefined,
  status: InstallationData['status'] | undefined,
): { readonly [field: string]: string } => {
  const keys = installationKeys(tenant ?? '', agent ?? '', status ?? 'active')
  if (tenant !== undefined && agent !== undefined) {
    return status === undefined
      ? { tenant_agent: keys.tenant_agent }
      : { tenant_agent_status: keys.tenant_agent_status }
  }
  if (status === undefined) return agent === undefined ? {} : { agent_id: agent }
  if (tenant !== undefined) return { tenant_status: keys.tenant_status }
  return agent === undefined ? { status } : { agent_status: keys.agent_status }
}

type CreateCall = Call<unknown, unknown, BodyOf<'installations.create'>>

const created = async (deps: InstallationDeps, call: CreateCall): Promise<Row<InstallationData>> => {
  const { scope, body } = call
  await requireBoth(deps, scope, body)
  await requirePlan(deps, scope, body.rate_plan_id)
  const pinned = await deps.installations.versionFor(scope, body.agent_id, body.version ?? null)
  const data: InstallationData = {
    agent_id: body.agent_id,
    ...pinned,
    status: 'active',
    overlays: await deps.toolHeaders.keepConfig(body.overlays, placeIn(scope.project, body.tenant_id)),
    approval_policy: body.approval_policy ?? null,
    rate_plan_id: body.rate_plan_id ?? null,
    before: [],
    ...installationKeys(body.tenant_id, body.agent_id, 'active'),
    moved_by: null,
  }
  const row = { id: newIdFor(call, 'ins'), project: scope.project, tenant: body.tenant_id, data }
  return ofAgent(deps, call, deps.installations.create(scope, row, actorOf(call)))
}

/** An installation that was created or enabled, unless its agent was deleted meanwhile. @throws {ServiceError} `not_found` */
const ofAgent = async (
  { installations, agents }: InstallationDeps,
  call: Call<unknown, unknown, unknown>,
  work: Promise<Row<InstallationData>>,
): Promise<Row<InstallationData>> => {
  const row = await work
  if (row.data.status !== 'active') return row
  const undo = () => installations.change(call.scope, row.id, { changes: { status: 'disabled' }, by: actorOf(call) })
  await requireStillThere(agents, { project: row.project, agentId: row.data.agent_id, undo })
  return row
}

/** The owner of an installation's tools, which is its tenant, and their path in the request. */
const placeIn = (project: string, tenant: string | null) => ({
  owner: { project, tenant, user: null },
  param: 'overlays.tools',
})

const keptChange = async (
  { toolHeaders }: InstallationDeps,
  body: BodyOf<'installations.update'>,
  { project, tenant, data }: Row<InstallationData>,
): Promise<typeof body> => {
  if (body.overlays === undefined) return body
  return { ...body, overlays: await toolHeaders.keepConfig(body.overlays, placeIn(project, tenant), data.overlays) }
}

const requireBoth = async (
  { agents, tenants }: InstallationDeps,
  scope: Scope,
  { tenant_id, agent_id }: BodyOf<'installations.create'>,
): Promise<void> => {
  if ((await tenants.get(projectScope(scope.project), tenant_id)) === null) {
    throw noTenant('tenant_id')
  }
  if ((await agents.get(projectScope(scope.project), agent_id)) === null) {
    throw new ServiceError('not_found', noAgent)
  }
}

const requirePlan = async ({ plans }: InstallationDeps, { project }: Scope, id?: string | null): Promise<void> => {
  if (id === undefined || id === null || (await plans.get(projectScope(project), id)) !== null) return
  throw new ServiceError('not_found', { param: 'rate_plan_id', message: 'There is no such rate plan.' })
}

const viewOf = ({ data, tenant, ...row }: Row<InstallationData>): ResultOf<'installations.get'> => ({
  id: row.id,
  tenant_id: tenant ?? '',
  agent_id: data.agent_id,
  version: data.version,
  agent_version_id: data.version_id,
  status: data.status,
  overlays: shownTools(data.overlays),
  approval_policy: data.approval_policy,
  rate_plan_id: data.rate_plan_id,
  previous_version: data.before.at(-1)?.version ?? null,
  ...rowTimes(row),
})
