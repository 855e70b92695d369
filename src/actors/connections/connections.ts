import { connectionWaitSink } from '#machines/action/action.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { connections as connectionOperations } from '#specs/resources/connections/connections.ts'
import { connectors as connectorOperations } from '#specs/resources/connections/connectors.ts'
import { authPort, serverUrlPort } from '../accounts/accounts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { connectionService } from '../capability/connection-service.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { connectionEffects } from './connection-effects.ts'
import { connectionUseCases } from './connection-use-cases.ts'
import { connectorUseCases } from './connector-use-cases.ts'
import { connectionKinds, connectionRows } from './kinds.ts'
import { signInUseCases } from './oauth/sign-in-use-cases.ts'
import { openConnections } from './open-connections.ts'
import { agentConnectors } from './tools/agent-connectors.ts'
import { connectionWaits } from './use/connection-waits.ts'

/** Connections of tools to external services: the catalogue of connectors, API keys and OAuth sign-ins. */
export const connections = capability({
  name: 'connections',
  operations: { ...connectionOperations, ...connectorOperations },
  kinds: connectionKinds,
  machines: [{ definition: connectionDefinition, rows: connectionRows }],
  open: (services) => {
    const directory = tenantDirectory.of(services)
    const { projects } = authPort.of(services)
    const returnUrls = async (project: string) => (await projects.settings(project))?.returnUrls ?? []
    const opened = openConnections(services, serverUrlPort.of(services))
    const checkTenant = (project: string, tenant: string) => directory.check(project, tenant, 'tenant_id')
    connectionService.give(services, opened.accesses)
    agentResources.give(services, agentConnectors({ ...services, ...opened }))
    return {
      useCases: {
        ...connectionUseCases({ ...services, ...opened, checkTenant }),
        ...signInUseCases({ ...services, ...opened, returnUrls }),
        ...connectorUseCases({ clients: opened.clients, callbackUrl: opened.links.callbackUrl }),
      },
      effects: connectionEffects({ ...services, ...opened }),
      sinks: { [connectionWaitSink]: connectionWaits(services.host) },
      close: opened.close,
    }
  },
})
