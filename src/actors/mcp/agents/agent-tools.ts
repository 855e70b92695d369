import type {
  AgentPlace,
  AgentResource,
  Offer,
  ServerTool,
  ServerToolCall,
  ToolOutcome,
} from '#actors/capability/agent-resources.ts'
import { statusOf } from '#machines/index.ts'
import type { KnownTool } from '#machines/mcp-server/known-tools.ts'
import { toolsOf } from '#machines/mcp-server/mcp-server.ts'
import { mcpServerDefinition } from '#machines/mcp-server/mcp-server-definition.ts'
import type { Resident } from '#runtime/internal.ts'
import { type Json, projectScope } from '#storage/index.ts'
import type { McpServers } from '../mcp-servers.ts'
import { releaseAgent } from '../remote-agents/release-agent.ts'
import { serverContext } from '../server-view.ts'
import { type CallParts, callInline, callRegistered } from './call-tool.ts'
import { type DeclaredServer, declaredServer } from './declared-server.ts'
import { repeatable } from './repeatable.ts'
import { searchTools, withSearch } from './search-tools.ts'
import { modelNames } from './tool-names.ts'

export interface AgentToolsParts extends CallParts {
  readonly servers: McpServers
}

/** Tools of remote servers in turns and runs: those that are active in the server's snapshot at the start. */
export const agentTools = (parts: AgentToolsParts): AgentResource => ({
  name: 'mcp_servers',
  fields: ['mcp_servers', 'remote_agents'],
  missing: (place, declared) => missing(parts, place, declared),
  offer: (place, declared) => offerOf(parts, place, declared),
  run: (call) => run(parts, call),
  release: async (action) => {
    parts.held.release(action.actionId)
    await releaseAgent(parts, action)
  },
})

const missing = async (parts: AgentToolsParts, place: AgentPlace, declared: Json): Promise<string | null> => {
  const named = declaredServer(declared)
  if (named === null)
    return 'A remote tool server must be its id, or an object with server_id, tools and require_approval.'
  const server = await usable(parts, place, named)
  if (server === null) return `There is no remote tool server ${named.serverId}.`
  const known = new Set(toolsOf(serverContext(server)).map(({ name }) => name))
  const unknown = named.tools?.find((name) => !known.has(name))
  return unknown === undefined ? null : `The remote tool server ${named.serverId} has no tool ${unknown}.`
}

/** Returns a server that belongs to the project itself or to the given tenant; null for any other. */
const usable = async (
  { servers }: AgentToolsParts,
  { project, tenant }: Pick<AgentPlace, 'project' | 'tenant'>,
  { serverId }: Pick<DeclaredServer, 'serverId'>,
): Promise<Resident | null> => {
  const server = await servers.known(projectScope(project), serverId)
  if (server === null) return null
  return server.owner.tenant === null || tenant === null || server.owner.tenant === tenant ? server : null
}

const offerOf = async (parts: AgentToolsParts, place: AgentPlace, declared: readonly Json[]): Promise<Offer> => {
  const named = declared.map(declaredServer).filter((each) => each !== null)
  const found = await Promise.all(named.map(async (each) => offeredOf(each, await usable(parts, place, each))))
  const offered = found.flat()
  const names = modelNames(offered.map(({ server, serverId, tool }) => ({ server, serverId, tool: tool.name })))
  const tools = offered.map((each, index) => serverTool(each, names[index] ?? ''))
  return { instructions: [], tools: withSearch(tools) }
}

interface Offered {
  readonly server: string
  readonly serverId: string
  readonly tool: KnownTool
  readonly needsApproval: boolean
}

const offeredOf = (named: DeclaredServer, server: Resident | null): readonly Offered[] => {
  if (server === null || statusOf(mcpServerDefinition, server.state.snapshot) === 'disabled') return []
  const context = serverContext(server)
  return toolsOf(context)
    .filter(({ name, state }) => state === 'active' && (named.tools?.includes(name) ?? true))
    .map((tool) => ({
      server: context.name,
      serverId: server.id,
      tool,
      needsApproval: named.needsApproval(tool.name),
    }))
}

const serverTool = ({ serverId, tool, needsApproval }: Offered, name: string): ServerTool => ({
  type: 'server',
  name,
  description: tool.description,
  parameters: tool.input_schema,
  resource: 'mcp_servers',
  settings: { server_id: serverId, tool: tool.name, hash: tool.hash },
  effect: repeatable(tool),
  needsApproval,
  risk_level: needsApproval ? 'medium' : 'low',
})

const run = async (parts: AgentToolsParts, call: ServerToolCall): Promise<ToolOutcome> => {
  const { settings } = call.tool
  if (settings.search !== undefined) return searchTools(call)
  if (settings.url !== undefined) return callInline(parts, call)
  const { project, tenant } = call
  const serverId = String(settings.server_id)
  const server = await usable(parts, { project, tenant }, { serverId })
  if (server === null || (server.owner.tenant !== null && server.owner.tenant !== tenant))
    return { ok: false, code: 'server_not_found', message: 'The remote tool server no longer exists.' }
  if (statusOf(mcpServerDefinition, server.state.snapshot) === 'disabled')
    return { ok: false, code: 'server_disabled', message: 'The remote tool server is disabled.' }
  const tool = toolsOf(serverContext(server)).find(({ name }) => name === settings.tool)
  if (tool?.state !== 'active' || tool.hash !== settings.hash)
    return {
      ok: false,
      code: 'tool_changed',
      message: 'The tool was not called because its definition has changed since the turn started.',
    }
  return callRegistered(parts, call, { server, tool })
}
