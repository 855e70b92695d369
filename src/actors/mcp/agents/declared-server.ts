import { isObject } from '#runtime/schema.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'

/** A registered server as an agent or a turn names it. */
export interface DeclaredServer {
  readonly serverId: string
  /** The server's own names of the tools that are offered; null for all. */
  readonly tools: readonly string[] | null
  /** Whether calls of a tool, by the server's own name, wait for a person. */
  readonly needsApproval: (tool: string) => boolean
}

/** `mcp_…`, or `{server_id, tools?, require_approval?}`; null for anything else. */
export const declaredServer = (declared: Json): DeclaredServer | null => {
  if (typeof declared === 'string') return { serverId: declared, tools: null, needsApproval: always }
  if (!isObject(declared) || typeof declared.server_id !== 'string') return null
  const tools = textsOf(declared.tools ?? declared.allowed_tools)
  const needsApproval = approvalOf(declared.require_approval)
  return needsApproval === null ? null : { serverId: declared.server_id, tools, needsApproval }
}

const always = (): boolean => true
const never = (): boolean => false

/**
 * Which tools wait for a person: all unless it says otherwise. `{tools: […]}` names those that wait, `{tools: {name: …}}` and
 * `{always, never}` say it for each, and the rest waits. Null for what is none of these.
 */
export const approvalOf = (rule: Json | undefined): ((tool: string) => boolean) | null => {
  if (rule === undefined || rule === null || rule === 'always') return always
  if (rule === 'never') return never
  if (!isObject(rule)) return null
  const { tools } = rule
  if (Array.isArray(tools)) return (tool) => tools.includes(tool)
  if (isObject(tools)) return (tool) => !(Object.hasOwn(tools, tool) && tools[tool] === 'never')
  const free = namesOf(rule.never)
  const gated = namesOf(rule.always)
  if (free === null && gated === null) return null
  return (tool) => gated?.includes(tool) === true || free?.includes(tool) !== true
}

const namesOf = (listed: Json | undefined): readonly string[] | null =>
  isObject(listed) ? textsOf(listed.tool_names) : null

const textsOf = (value: Json | JsonObject | undefined): readonly string[] | null =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : null
