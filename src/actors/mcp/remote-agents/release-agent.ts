import type { ConnectionService } from '#actors/capability/connection-service.ts'
import { toolsOf } from '#machines/mcp-server/mcp-server.ts'
import { projectScope } from '#storage/index.ts'
import { McpFailure } from '../client/mcp-failure.ts'
import type { McpServers } from '../mcp-servers.ts'
import { withAuth } from '../server-auth.ts'
import type { ServerHeaders } from '../server-headers.ts'
import { serverContext } from '../server-view.ts'
import type { CallPlace } from './agent-calls.ts'
import { agentTool, endpointOf } from './agent-endpoint.ts'
import { type AgentCallParts, cancelTask } from './call-agent.ts'

export interface ReleaseParts extends AgentCallParts {
  readonly servers: McpServers
  readonly headers: Pick<ServerHeaders, 'open'>
  readonly connections: ConnectionService
}

/** Cancels the task of a call that no answer will reach, with the credentials of the call's owner. Never throws. */
export const releaseAgent = async (
  parts: ReleaseParts,
  action: Pick<CallPlace, 'project' | 'actionId'>,
): Promise<void> => {
  const { project } = action
  const call = await parts.calls.find(action)
  const server = call && (await parts.servers.known(projectScope(project), call.data.server_id))
  if (call === null || server === null || call.data.task_id === null || call.data.ended) return
  const { task_id } = call.data
  const context = serverContext(server)
  const { auth, url } = context
  const endpoint = endpointOf(toolsOf(context).find(({ name }) => name === agentTool)?.annotations ?? null)
  if (endpoint === null) return
  const headers = await parts.headers.open({ project, id: server.id, url })
  const { tenant, user } = call
  await withAuth(parts.connections, { server: { auth, url }, caller: { project, tenant, user } }, async (own) => {
    await cancelTask(parts, { endpoint, headers: { ...headers, ...own } }, task_id)
    return { ok: true, output: '' }
  }).catch((error: unknown) => {
    if (!(error instanceof McpFailure)) throw error
  })
}
