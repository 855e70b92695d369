import type { ModelRow } from '#gateway/routing/model-rows.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { narrowedScope, projectScope } from '#storage/index.ts'
import type { AgentKeys } from '../accounts/agent-keys.ts'
import { type AgentResource, offersOf } from '../capability/agent-resources.ts'
import type { ConnectionService } from '../capability/connection-service.ts'
import type { Services } from '../capability/services.ts'
import { Table } from '../records/table.ts'
import { AgentConfigs } from '../sessions/agent-configs.ts'
import type { Installed } from '../sessions/session-agent.ts'
import type { ToolHeaders } from '../sessions/tools/tool-headers.ts'
import { tenants } from '../tenants/kinds.ts'
import { ratePlans } from '../usage/kinds.ts'
import { agentKeyUseCases } from './agent-key-use-cases.ts'
import { agentResolver } from './agent-resolver.ts'
import { agentUseCases } from './agent-use-cases.ts'
import { AgentVersions } from './agent-versions.ts'
import { agentCatalogUseCases } from './catalog-use-cases.ts'
import { Catalogue } from './catalogue.ts'
import { installationUseCases } from './installation-use-cases.ts'
import { Installations } from './installations.ts'
import { agents, installationKeys } from './kinds.ts'
import { needsChecker } from './needs-checker.ts'
import { agentVersionUseCases } from './version-use-cases.ts'

export interface AgentsParts extends Pick<Services, 'clock' | 'host' | 'records' | 'credentialChanges'> {
  readonly guard: Pick<SsrfGuard, 'check'>
  readonly keys: AgentKeys
  readonly toolHeaders: Pick<ToolHeaders, 'keepConfig'>
  readonly models: {
    /** @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active` */
    readonly check: (model: string, project: string) => unknown
    readonly list: (project: string) => Promise<readonly ModelRow[]>
    /** Model calls, for tests of drafts. */
    readonly turns: TurnModels
  }
  /** @throws {ServiceError} for a tenant that is suspended or being deleted. */
  readonly checkTenant: (project: string, tenant: string) => Promise<void>
  /** Resources that capabilities offer to agents; called on use. */
  readonly resources: () => readonly AgentResource[]
  /** Service for the connections that tools use; called on use. */
  readonly connections: () => Pick<ConnectionService, 'untestable'>
}

/**
 * Opens the agents capability: use-cases of agents, versions, keys and installations, and the lookups that sessions and
 * runs use.
 */
export const openAgents = (parts: AgentsParts) => {
  const { host, records, keys, toolHeaders, models, checkTenant, clock, credentialChanges } = parts
  const { now } = clock
  const versions = new AgentVersions({ host, records, now })
  const catalogue = new Catalogue({ records, now })
  const tables = {
    agents: new Table(records, agents, now),
    tenants: new Table(records, tenants, now),
    plans: new Table(records, ratePlans, now),
  }
  const manifests = {
    ...{ checkModel: models.check, models: models.list, agents: tables.agents },
    ...{ catalogue, versions, resources: parts.resources, checkUrl: (url: string) => parts.guard.check(url) },
  }
  const checkNeeds = needsChecker(manifests)
  const installations = new Installations({
    ...{ records, versions, catalogue, checkNeeds, checkTenant, now, credentialChanges },
  })
  const resolve = agentResolver({
    records,
    versions,
    offers: (place, config) => offersOf(parts.resources(), place, config),
    now,
  })
  const configs = new AgentConfigs({ resolve, now })
  const shared = {
    records,
    toolHeaders,
    versions,
    installations,
    catalogue,
    changed: configs.changed,
    now,
    credentialChanges,
  }
  return {
    resolve,
    configs,
    ...installedBy(installations),
    useCases: {
      ...agentUseCases(shared),
      ...agentKeyUseCases({ records, keys, now }),
      ...agentVersionUseCases({
        host,
        toolHeaders,
        versions,
        manifests,
        trials: { models: models.turns, clock },
        connections: parts.connections,
        changed: configs.changed,
        now,
      }),
      ...agentCatalogUseCases({ catalogue, versions, agents: tables.agents }),
      ...installationUseCases({ installations, toolHeaders, ...tables, changed: configs.changed }),
    },
  }
}

/** The lookups of installations. */
const installedBy = (installations: Installations) => ({
  /** Finds an installation of this tenant, or of any tenant when null; null when there is none. */
  installed: async (project: string, tenant: string | null, id: string): Promise<Installed | null> => {
    const row = await installations.table.get(narrowedScope(projectScope(project), { tenant, user: null }), id)
    return row && { agentId: row.data.agent_id, tenant: row.tenant ?? '', active: row.data.status === 'active' }
  },
  /** Returns the newest active installation of an agent for a tenant; null when there is none. */
  installationFor: async (project: string, tenant: string, agentId: string): Promise<string | null> => {
    const { tenant_agent_status } = installationKeys(tenant, agentId, 'active')
    const where = { tenant_agent_status }
    const [row] = await installations.table.list(projectScope(project), { where, limit: 1 })
    return row?.id ?? null
  },
})
