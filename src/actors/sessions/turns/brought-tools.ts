import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { RemoteDeclaration, RemotePlace, RemoteTools } from '#actors/capability/remote-tools.ts'
import type { ToolDeclaration } from './turn-config.ts'

/** A turn's tools: those that are declared, and those of the remote servers that it names. */
export interface SortedTools {
  readonly declared: readonly ToolDeclaration[]
  readonly brought: readonly ServerTool[]
}

/**
 * Separates declared tools from remote servers, and lists the tools of the servers. @throws {ServiceError} as
 * `RemoteTools.offer`.
 */
export const broughtTools = async (
  remote: () => RemoteTools,
  tools: readonly (ToolDeclaration | RemoteDeclaration)[],
  owner: Omit<RemotePlace, 'param'>,
): Promise<SortedTools> => {
  const { project, tenant, user } = owner
  const declared = tools.filter((tool) => tool.type !== 'mcp')
  if (declared.length === tools.length) return { declared, brought: [] }
  const brought = await Promise.all(
    tools.map((tool, index) =>
      tool.type === 'mcp' ? remote().offer({ project, tenant, user, param: `tools[${index}]` }, tool) : [],
    ),
  )
  return { declared, brought: brought.flat() }
}
