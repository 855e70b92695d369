import { modelsPort } from '#gateway/gateway.ts'
import { effective } from '#gateway/routing/model-registry.ts'
import { catalogueSink } from '#machines/agent-version/agent-version.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { agentCatalog } from '#specs/resources/agent-catalog.ts'
import { agentKeys } from '#specs/resources/agent-keys.ts'
import { agentVersions } from '#specs/resources/agent-versions.ts'
import { agents as agentOperations } from '#specs/resources/agents.ts'
import { installations } from '#specs/resources/installations.ts'
import { activeInstallationsPort, agentReachPort, authPort } from '../accounts/accounts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { connectionService } from '../capability/connection-service.ts'
import { eraseActor } from '../runtime/internal.ts'
import { sessionAgents } from '../sessions/sessions.ts'
import { ToolHeaders } from '../sessions/tools/tool-headers.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { activeInstallations } from './active-installations.ts'
import { agentReaches } from './agent-reaches.ts'
import { Catalogue } from './catalogue.ts'
import { agentKinds, agentVersionRows } from './kinds.ts'
import { openAgents } from './open-agents.ts'

/** Capability `agents`: agents, their versions, keys and catalogue, and tenants' installations of them. */
export const agents = capability({
  name: 'agents',
  operations: { ...agentOperations, ...agentKeys, ...agentVersions, ...agentCatalog, ...installations },
  kinds: agentKinds,
  machines: [{ definition: agentVersionDefinition, rows: agentVersionRows }],
  open: (services) => {
    const { routing, turns } = modelsPort.of(services)
    const directory = tenantDirectory.of(services)
    const opened = openAgents({
      ...services,
      toolHeaders: new ToolHeaders(services),
      keys: authPort.of(services).agentKeys,
      models: {
        check: (model, project) => routing.routes.resolve(project, model, 'chat'),
        list: async (project) => effective(await routing.registry.rows(project)),
        turns,
      },
      checkTenant: async (project, tenant) => directory.admit(project, tenant),
      resources: () => agentResources.of(services),
      connections: () => connectionService.of(services),
    })
    agentReachPort.give(services, agentReaches(services))
    activeInstallationsPort.give(services, activeInstallations(services))
    sessionAgents.give(services, opened)
    return {
      useCases: opened.useCases,
      effects: { 'agent_version.eraseVersion': eraseActor(services) },
      sinks: { [catalogueSink]: new Catalogue(services).sink },
    }
  },
})
