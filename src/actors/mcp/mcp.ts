import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { mcpServers } from '#specs/resources/mcp-servers.ts'
import { capability } from '../capability/capability.ts'
import { eraseActor } from '../runtime/erasure/erase-actor.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { discoverTools, readServer } from './discover-tools.ts'
import { mcpKinds, serverRows } from './kinds.ts'
import { ServerHeaders } from './server-headers.ts'
import { serverUseCases } from './server-use-cases.ts'

/** Remote servers of tools, which agents call under the approvals of their turns. */
export const mcp = capability({
  name: 'mcp',
  operations: mcpServers,
  kinds: mcpKinds,
  machines: [{ definition: mcpServerDefinition, rows: serverRows }],
  open: (house) => {
    const headers = new ServerHeaders(house)
    const directory = tenantDirectory.of(house)
    const parts = {
      ...house,
      headers,
      checkTenant: (project: string, tenant: string) => directory.check(project, tenant, 'tenant_id'),
    }
    return {
      useCases: serverUseCases(parts),
      effects: {
        'mcp_server.discoverTools': discoverTools({ ...parts, read: readServer(house.guard) }),
        'mcp_server.eraseServer': eraseActor(house, ({ actor, owner }) => headers.remove(owner.project, actor)),
      },
    }
  },
})
