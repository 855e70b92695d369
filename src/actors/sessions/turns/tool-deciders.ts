import type { ApprovalRule } from '#machines/approval.ts'
import type { SessionTool } from '#machines/session/session-data.ts'
import { type TurnTool, toolName } from './turn-config.ts'

/** What determines who decides about the calls of a turn's tools. */
interface Deciders {
  /** The tools that the turn's request declares. */
  readonly own: readonly TurnTool[]
  readonly agents: readonly TurnTool[]
  readonly policy: ApprovalRule | null
  /** Whether the request comes from a credential that is visible in browsers. */
  readonly guarded: boolean
}

/**
 * Adds to each tool who may decide about its calls besides the operator: the end user, where the installation's policy
 * or the tool says so; and the page that declared a `function` tool, for that tool. What a browser's credential
 * declares gives no one a decision about a tool of the agent.
 */
export const withDeciders = (
  tools: Readonly<Record<string, SessionTool>>,
  { own, agents, policy, guarded }: Deciders,
): Readonly<Record<string, SessionTool>> => {
  const byPage = new Set(guarded ? own.map(toolName) : [])
  const declared = new Map([...agents, ...(guarded ? [] : own)].map((tool) => [toolName(tool), approverOf(tool)]))
  const decided = ([name, tool]: readonly [string, SessionTool]): readonly [string, SessionTool] => {
    const isPages = tool.kind === 'function' && byPage.has(name)
    const isUsers = (ownOf(policy?.approvers, name) ?? declared.get(name)) === 'end_user'
    return [
      name,
      { ...tool, ...(isUsers && { approver: 'end_user' }), ...(isPages && { declared_by: 'page' }) } as const,
    ]
  }
  return Object.fromEntries(Object.entries(tools).map(decided))
}

/** A tool may be named like a method of every object. */
const ownOf = <T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined

const approverOf = (tool: TurnTool) => (tool.type === 'server' ? undefined : tool.approver)
