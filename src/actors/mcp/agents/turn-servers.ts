import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { RemoteDeclaration, RemoteTools } from '#actors/capability/remote-tools.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type AgentToolsParts, agentTools } from './agent-tools.ts'
import { approvalOf } from './declared-server.ts'
import type { InlineServers } from './inline-servers.ts'
import { repeatable } from './repeatable.ts'
import { withSearch } from './search-tools.ts'
import { modelNames } from './tool-names.ts'

/** Tools of servers that a turn names: registered ones, or one that it brings along. */
export const turnServers = (parts: AgentToolsParts & { readonly inline: InlineServers }): RemoteTools => {
  const registered = agentTools(parts)
  return {
    offer: async (place, declared) => {
      if (declared.server_id === undefined) return inlineTools(await parts.inline.server(place, declared), declared)
      const { server_id, allowed_tools: tools, require_approval } = declared
      const named = {
        server_id,
        ...(tools !== undefined && { tools }),
        ...(require_approval !== undefined && { require_approval: asJson(require_approval) }),
      }
      const agent = { project: place.project, tenant: place.tenant, agentId: '', installationId: null }
      const why = await registered.missing(agent, named)
      if (why !== null) throw new ServiceError('invalid_field', { param: `${place.param}.server_id`, message: why })
      return (await registered.offer(agent, [named])).tools
    },
  }
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value))

type Inline = Awaited<ReturnType<InlineServers['server']>>

const inlineTools = (
  { id, label, url, tools }: Inline,
  { allowed_tools, require_approval }: RemoteDeclaration,
): readonly ServerTool[] => {
  const needsApproval =
    approvalOf(require_approval === undefined ? undefined : asJson(require_approval)) ?? (() => true)
  const offered = tools.filter(({ name }) => allowed_tools?.includes(name) ?? true)
  const names = modelNames(offered.map(({ name }) => ({ server: label, serverId: id, tool: name })))
  const made = offered.map((tool, index): ServerTool => {
    const gated = needsApproval(tool.name)
    return {
      type: 'server',
      name: names[index] ?? '',
      description: tool.description,
      parameters: tool.input_schema,
      resource: 'mcp_servers',
      settings: { url, headers_id: id, tool: tool.name },
      effect: repeatable(tool),
      needsApproval: gated,
      risk_level: gated ? 'medium' : 'low',
    }
  })
  return withSearch(made)
}
