/**
 * Who runs a tool: the caller, this server over HTTP, this server itself, or another agent; `unknown`: none, since the
 * model invented the tool.
 */
export type ToolKind = 'function' | 'http' | 'builtin' | 'agent' | 'unknown'

/** The properties of a tool on which the approval rules depend. */
export interface ToolTraits {
  readonly kind: ToolKind
  readonly needs_approval: boolean
}

/**
 * Returns the names of the tools whose calls wait for a person (specs/decisions/0071-runs.md): none when `pause` is
 * false; the tools with `needsApproval` when any tool has it; else all.
 */
export const gatedTools = (pause: boolean, tools: Readonly<Record<string, ToolTraits>>): readonly string[] => {
  if (!pause) return []
  const names = Object.keys(tools)
  const marked = names.filter((name) => tools[name]?.needs_approval)
  return marked.length > 0 ? marked : names
}

/** Whether a tool call requires a person's approval, runs without it, or never runs. */
export type ApprovalMode = 'require' | 'auto' | 'deny'

/** An installation's rule for tool calls: `tools` by name, `default` for all others. */
export type ApprovalRule = {
  readonly default: ApprovalMode
  readonly tools: { readonly [tool: string]: ApprovalMode }
  /** Who decides about the calls of a tool, if other than the tool says. */
  readonly approvers?: { readonly [tool: string]: Approver }
}

/** Who may decide about a tool call. */
type Approver = 'operator' | 'end_user'

/** A tool as input of the approval rules of runs. `gated`: the tool or its agent requires a person's approval. */
export interface RiskyTool {
  readonly name: string
  readonly gated: boolean
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
}

/**
 * Returns the approval mode of a tool in a run: the installation's rule for this tool if there is one; else the
 * stricter of its default rule, the tool's own declaration, and its risk: high and critical ones require approval
 * (specs/decisions/0071-runs.md).
 */
export const approvalMode = ({ name, gated, risk_level }: RiskyTool, rule: ApprovalRule | null): ApprovalMode => {
  const named = rule?.tools[name]
  if (named !== undefined) return named
  if (rule !== null && rule.default !== 'auto') return rule.default
  return gated || risk_level === 'high' || risk_level === 'critical' ? 'require' : 'auto'
}

/**
 * Default of `pause_on_tool_calls`: true if any tool declares that it needs approval
 * (specs/decisions/0001-sessions.md).
 */
export const pausesByDefault = (tools: Readonly<Record<string, ToolTraits>>): boolean =>
  Object.values(tools).some((tool) => tool.needs_approval)
