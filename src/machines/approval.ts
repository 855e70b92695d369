/** Who runs a tool: the caller, this server over HTTP, this server itself, another agent, or nobody (it is made up). */
export type ToolKind = 'function' | 'http' | 'builtin' | 'agent' | 'unknown'

/** What the approval rules need to know of a tool. */
export interface ToolTraits {
  readonly kind: ToolKind
  readonly needs_approval: boolean
}

/**
 * Whether a call of a tool waits for a person (interface "Sessions API", approval rules):
 * nothing pauses when `pause` is false; only tools with needsApproval pause when any tool has it; else every call does.
 */
export const gatedTools = (pause: boolean, tools: Readonly<Record<string, ToolTraits>>): readonly string[] => {
  if (!pause) return []
  const names = Object.keys(tools)
  const marked = names.filter((name) => tools[name]?.needs_approval)
  return marked.length > 0 ? marked : names
}

/**
 * `pause_on_tool_calls` when the request leaves it out: a tool that asks for approval gets it
 * (specs/decisions/0001-sessions.md).
 */
export const pausesByDefault = (tools: Readonly<Record<string, ToolTraits>>): boolean =>
  Object.values(tools).some((tool) => tool.needs_approval)
