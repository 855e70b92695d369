import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { RemoteDeclaration, RemotePlace, RemoteTools } from '#actors/capability/remote-tools.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { maxServers } from '#specs/resources/mcp/mcp-limits.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { serverRows } from '../kinds.ts'
import { type AgentToolsParts, agentTools } from './agent-tools.ts'
import { approvalOf } from './declared-server.ts'
import type { InlineServers } from './inline-servers.ts'
import { repeatable } from './repeatable.ts'
import { withSearch } from './search-tools.ts'
import { modelNames } from './tool-names.ts'

export interface TurnServersParts extends AgentToolsParts {
  readonly inline: InlineServers
  readonly records: RecordStore
  /** Whether a project allows registered servers only. */
  readonly registeredOnly: (project: string) => Promise<boolean>
}

/** Tools of servers that a turn names: registered servers, or one that the turn defines. */
export const turnServers = (parts: TurnServersParts): RemoteTools => {
  const registered = agentTools(parts)
  return {
    offer: async (place, declared) => {
      const server_id = declared.server_id ?? (await labelled(parts.records, place, declared))
      if (server_id === undefined) {
        if (declared.server_url !== undefined && (await parts.registeredOnly(place.project))) throw notRegistered(place)
        return inlineTools(await parts.inline.server(place, declared), declared)
      }
      const { allowed_tools: tools, require_approval } = declared
      const named = {
        server_id,
        ...(tools !== undefined && { tools }),
        ...(require_approval !== undefined && { require_approval: asJson(require_approval) }),
      }
      const agent = { project: place.project, tenant: place.tenant, agentId: '', installationId: null }
      const why = await registered.missing(agent, named)
      if (why !== null) throw invalidField(`${place.param}.server_id`, why)
      return (await registered.offer(agent, [named])).tools
    },
    call: async (call) => {
      const outcome = await registered.run(call)
      if (outcome.ok || (outcome.input === undefined && outcome.connection === undefined)) return outcome
      await registered.release?.(call)
      const link = outcome.connection?.authorize_url
      const more = outcome.input === undefined ? (link ?? '') : 'Only sessions and runs wait for it.'
      return { ok: false, code: outcome.code, message: `${outcome.message} ${more}`.trim() }
    },
  }
}

const notRegistered = ({ param }: RemotePlace): ServiceError =>
  invalidField(
    `${param}.server_url`,
    'The project allows only registered tool servers: use server_id or the server_label of one.',
  )

/** Returns the registered server with this label, if the declaration has no URL; undefined for none or several. */
const labelled = async (
  records: RecordStore,
  { project, tenant }: RemotePlace,
  { server_label, server_url }: RemoteDeclaration,
): Promise<string | undefined> => {
  if (server_url !== undefined || server_label === undefined) return undefined
  const rows = await records.list(serverRows, projectScope(project), { limit: maxServers })
  const found = rows.filter(
    (row) =>
      (row.id === server_label || row.data.name === server_label) &&
      row.data.status !== 'disabled' &&
      (row.tenant === null || row.tenant === tenant),
  )
  return found.length === 1 ? found[0]?.id : undefined
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
