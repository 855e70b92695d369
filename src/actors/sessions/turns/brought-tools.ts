import type { ServerTool } from '#actors/capability/agent-resources.ts'
import type { RemoteDeclaration, RemotePlace, RemoteTools } from '#actors/capability/remote-tools.ts'
import type { ToolDeclaration } from './turn-config.ts'

/** A turn's tools: what is declared, and what remote servers bring. */
export interface SortedTools {
  readonly declared: readonly ToolDeclaration[]
  readonly brought: readonly ServerTool[]
}

/** Separates a turn's own tools from the servers that it names. @throws {ServiceError} as `RemoteTools.offer`. */
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
