import type { ConnectionService } from '#actors/capability/connection-service.ts'
import { statusOf } from '#machines/index.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Resident } from '../runtime/internal.ts'
import type { McpTarget, McpWork } from './client/mcp-connection.ts'
import type { McpServers } from './mcp-servers.ts'
import { type ContentRequest, fillPrompt, readResource } from './read-content.ts'
import { withOwnAuth } from './server-auth.ts'
import type { ServerHeaders } from './server-headers.ts'
import { listsView, residentView, serverContext } from './server-view.ts'

export interface TargetParts {
  readonly guard: McpWork['guard']
  readonly headers: Pick<ServerHeaders, 'open'>
  readonly connections: ConnectionService
}

type Served = 'resources' | 'prompts' | 'read_resource' | 'fill_prompt'

/** Use-cases of resources and prompts. Lists are those of the last discovery, contents are read from the server. */
export const contentUseCases = (
  parts: TargetParts,
  servers: Pick<McpServers, 'find'>,
): Pick<UseCases, `mcp_servers.${Served}`> => ({
  'mcp_servers.resources': async ({ scope, params }) => {
    const server = await servers.find(scope, params.server_id)
    const { prompts: _prompts, unread, ...lists } = listsView(serverContext(server))
    const { snapshot_at } = residentView(server)
    return { ...lists, unread: unread.filter((list) => list !== 'prompts'), snapshot_at }
  },
  'mcp_servers.prompts': async ({ scope, params }) => {
    const server = await servers.find(scope, params.server_id)
    const { prompts, unread } = listsView(serverContext(server))
    const { snapshot_at } = residentView(server)
    return { prompts, unread: unread.filter((list) => list === 'prompts'), snapshot_at }
  },
  'mcp_servers.read_resource': async ({ scope, params, body }) => {
    const request = await contentRequest(parts, await servers.find(scope, params.server_id))
    return { contents: await readResource(request, body.uri) }
  },
  'mcp_servers.fill_prompt': async ({ scope, params, body }) => {
    const request = await contentRequest(parts, await servers.find(scope, params.server_id))
    return fillPrompt(request, { name: body.name, arguments: body.arguments ?? {} })
  },
})

/**
 * Prepares a request to a server for content.
 *
 * @throws {ServiceError} `invalid_transition` when the server is disabled, or an agent
 */
const contentRequest = async (parts: TargetParts, server: Resident): Promise<ContentRequest> => {
  if (statusOf(mcpServerDefinition, server.state.snapshot) === 'disabled')
    throw new ServiceError('invalid_transition', {
      message: 'The server is disabled. Enable it with mcp_servers.update first.',
    })
  const { timeout_ms: timeoutMs, transport } = serverContext(server)
  if (transport === 'a2a')
    throw new ServiceError('invalid_transition', { message: 'An agent has no resources and no prompts.' })
  return { guard: parts.guard, timeoutMs, withTarget: (use) => withOwnTarget(parts, server, use) }
}

/** Runs work with the server as target of requests on behalf of its project or tenant, never of a user. */
export const withOwnTarget = async <T>(
  parts: TargetParts,
  server: Resident,
  use: (target: McpTarget) => Promise<T>,
): Promise<T> => {
  const { url, transport, auth } = serverContext(server)
  const { project, tenant } = server.owner
  const headers = await parts.headers.open({ project, id: server.id, url })
  const as = { server: { auth, url }, caller: { project, tenant, user: null } }
  return withOwnAuth(parts.connections, as, (own) => use({ url, transport, headers: { ...headers, ...own } }))
}
