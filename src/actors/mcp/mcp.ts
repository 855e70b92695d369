import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { mcpServers } from '#specs/resources/mcp/mcp-servers.ts'
import { authPort } from '../accounts/accounts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { connectionService } from '../capability/connection-service.ts'
import { remoteTools } from '../capability/remote-tools.ts'
import { textScan } from '../capability/text-scan.ts'
import { eraseActor } from '../runtime/internal.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { agentTools } from './agents/agent-tools.ts'
import { InlineServers } from './agents/inline-servers.ts'
import { HeldCalls } from './agents/input/held-calls.ts'
import { turnServers } from './agents/turn-servers.ts'
import { discoverTools, readServer, readWholeServer } from './discover-tools.ts'
import { mcpKinds, serverRows } from './kinds.ts'
import { McpServers } from './mcp-servers.ts'
import { AgentCalls } from './remote-agents/agent-calls.ts'
import { ServerHeaders } from './server-headers.ts'
import { serverUseCases } from './server-use-cases.ts'
import { ToolFindings } from './tool-findings.ts'

/** Remote MCP servers, whose tools agents call subject to the approvals of their turns. */
export const mcp = capability({
  name: 'mcp',
  operations: mcpServers,
  kinds: mcpKinds,
  machines: [{ definition: mcpServerDefinition, rows: serverRows }],
  open: (services) => {
    const headers = new ServerHeaders(services)
    const held = new HeldCalls()
    const directory = tenantDirectory.of(services)
    const parts = {
      ...services,
      headers,
      held,
      calls: new AgentCalls(services.records, services.now),
      connections: connectionService.of(services),
      checkTenant: (project: string, tenant: string) => directory.check(project, tenant, 'tenant_id'),
    }
    const servers = new McpServers(services)
    const inline = new InlineServers({ ...parts, read: readServer(services.guard) })
    agentResources.give(services, agentTools({ ...parts, servers }))
    const registeredOnly = async (project: string) =>
      (await authPort.of(services).projects.settings(project))?.registeredServersOnly ?? false
    remoteTools.give(services, turnServers({ ...parts, servers, inline, registeredOnly }))
    return {
      close: () => held.close(),
      useCases: serverUseCases({ ...parts, findings: new ToolFindings(textScan.of(services)) }),
      effects: {
        'mcp_server.discoverTools': discoverTools({ ...parts, read: readWholeServer(services.guard) }),
        'mcp_server.eraseServer': eraseActor(services, ({ actor, owner }) => headers.remove(owner.project, actor)),
      },
    }
  },
})
