import { catalogueSink } from '#machines/agent-version/agent-version.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import { agentKeys } from '../accounts/kinds.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { type AuditActor, actorOf, changedFields, unlessSame } from '../records/audit-note.ts'
import type { Notice } from '../records/notices.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { shownTools, type ToolHeaders } from '../sessions/tools/tool-headers.ts'
import type { AgentVersions } from './agent-versions.ts'
import type { Catalogue } from './catalogue.ts'
import type { Installations } from './installations.ts'
import { type AgentData, agents, visibilityOf } from './kinds.ts'

export interface AgentDeps extends Pick<Services, 'now' | 'records' | 'credentialChanges'> {
  readonly toolHeaders: Pick<ToolHeaders, 'keepConfig'>
  readonly versions: AgentVersions
  readonly installations: Installations
  readonly catalogue: Catalogue
  /** Called when the config of an agent has changed. */
  readonly changed: () => void
}

const viewOf = ({ id, data, ...row }: Row<AgentData>) => ({
  id,
  ...data,
  visibility: visibilityOf(data),
  config: shownTools(data.config),
  ...rowTimes(row),
})

const audit = (
  action: string,
  id: string,
  { by, changes = [] }: { readonly by: AuditActor; readonly changes?: readonly string[] },
): readonly Notice[] => [{ kind: 'audit', action: `agent.${action}`, by, resource: { type: 'agent', id }, changes }]

/** Notifies the catalogue that the visibility of an agent has changed. */
const relisted = (agent_id: string): Notice => ({
  ...{ kind: 'message', to: catalogueSink },
  event: { type: 'agent_visibility', agent_id },
})

/** Use-cases of agents: a name, and a config for sessions and runs. */
export const agentUseCases = (deps: AgentDeps): UseCasesOf<'agents'> => {
  const table = new Table(deps.records, agents, deps.now)
  const resource = new RecordResource({ table, idPrefix: 'agt', view: viewOf })
  return {
    'agents.list': ({ scope, query }) => resource.list(scope, query),
    'agents.get': ({ scope, params }) => resource.get(scope, params.agent_id),
    'agents.create': async (call) => {
      const { name, description, visibility } = call.body
      const config = await deps.toolHeaders.keepConfig(call.body.config, placeIn(call.scope.project))
      const id = newIdFor(call, 'agt')
      const data = { name, description: description ?? null, config, visibility }
      const notices = audit('created', id, { by: actorOf(call) })
      return resource.create(call.scope, { id, project: call.scope.project, data, notices })
    },
    'agents.update': async (call) => {
      const { scope, params } = call
      const body = await keptChange(deps, call.body, found(await table.get(scope, params.agent_id)))
      const row = await table.change(scope, params.agent_id, {
        edit: ({ data }) => unlessSame(data, { ...data, ...body }),
        notices: (next, before) => [
          ...audit('updated', next.id, { by: actorOf(call), changes: changedFields(before.data, next.data) }),
          ...(visibilityOf(next.data) === visibilityOf(before.data) ? [] : [relisted(next.id)]),
        ],
      })
      deps.changed()
      return viewOf(found(row))
    },
    'agents.delete': async (call) => {
      const { scope } = call
      const id = call.params.agent_id
      found(await table.get(scope, id))
      const of = { project: scope.project, agentId: id, by: actorOf(call) }
      if ((await deps.installations.activeOf(scope, id, 1)).length > 0) throw new ServiceError('agent_in_use')
      await removeAll(deps, of)
      await table.remove(scope, id, () => audit('deleted', id, of))
      // what was created meanwhile
      await removeAll(deps, of)
      await deps.installations.disableAll(scope, id, of.by)
      deps.credentialChanges?.changed()
      deps.changed()
      return { id, deleted: true }
    },
  }
}

/** The owner of an agent's tools, which is the project, and their path in the request. */
const placeIn = (project: string) => ({ owner: { project, tenant: null, user: null }, param: 'config.tools' })

/** The change with its config in stored form, in which header values are replaced by references. */
const keptChange = async (
  deps: AgentDeps,
  body: BodyOf<'agents.update'>,
  row: Row<AgentData>,
): Promise<typeof body> => {
  const { project, data } = row
  if (body.config === undefined) return body
  return { ...body, config: await deps.toolHeaders.keepConfig(body.config, placeIn(project), data.config) }
}

/**
 * Removes everything that belongs to an agent, before the agent itself. After a crash in between the agent still
 * exists, so the deletion can be repeated.
 */
const removeAll = async (
  deps: AgentDeps,
  { project, agentId, by }: { readonly project: string; readonly agentId: string; readonly by: AuditActor },
): Promise<void> => {
  const scope = projectScope(project)
  await deps.versions.deleteAll(scope, agentId, by)
  await deps.catalogue.forget(scope, agentId)
  const keys = new Table(deps.records, agentKeys, deps.now)
  for (;;) {
    const rows = await keys.list(scope, { where: { agent_id: agentId }, limit: 100 })
    for (const { id } of rows) await keys.remove(scope, id)
    if (rows.length < 100) return
  }
}

const found = <T>(row: T | null | undefined): T => orNotFound(row, 'agent_id')
