/** Who runs a tool: the caller, this server over HTTP, this server itself, another agent, or none (it is made up). */
export type ToolKind = 'function' | 'http' | 'builtin' | 'agent' | 'unknown'

/** What the approval rules need to know of a tool. */
export interface ToolTraits {
  readonly kind: ToolKind
  readonly needs_approval: boolean
}

/**
 * Whether a call of a tool waits for a person (specs/decisions/0071-runs.md):
 * nothing pauses when `pause` is false; only tools with needsApproval pause when any tool has it; else every call does.
 */
export const gatedTools = (pause: boolean, tools: Readonly<Record<string, ToolTraits>>): readonly string[] => {
  if (!pause) return []
  const names = Object.keys(tools)
  const marked = names.filter((name) => tools[name]?.needs_approval)
  return marked.length > 0 ? marked : names
}

/** What a tool call needs before it runs: a person, nothing, or it never runs. */
export type ApprovalMode = 'require' | 'auto' | 'deny'

/** An installation's rule for tool calls: `tools` by name, `default` for all others. */
export type ApprovalRule = {
  readonly default: ApprovalMode
  readonly tools: { readonly [tool: string]: ApprovalMode }
}

/** A tool as the approval rules of runs see it. `gated`: the tool or its agent needs a person's approval. */
export interface RiskyTool {
  readonly name: string
  readonly gated: boolean
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
}

/**
 * What a tool's calls need in a run: what the installation says of this tool, else the stricter of what it says of all
 * tools, what the tool declares, and what its risk does: high and critical ones wait (specs/decisions/0071-runs.md).
 */
export const approvalMode = ({ name, gated, risk_level }: RiskyTool, rule: ApprovalRule | null): ApprovalMode => {
  const named = rule?.tools[name]
  if (named !== undefined) return named
  if (rule !== null && rule.default !== 'auto') return rule.default
  return gated || risk_level === 'high' || risk_level === 'critical' ? 'require' : 'auto'
}

/**
 * `pause_on_tool_calls` when the request leaves it out: a tool that declares an approval gets it
 * (specs/decisions/0001-sessions.md).
 */
export const pausesByDefault = (tools: Readonly<Record<string, ToolTraits>>): boolean =>
  Object.values(tools).some((tool) => tool.needs_approval)
