import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#specs/dsl/json.ts'

/** A registered server as an agent or a turn declares it. */
export interface DeclaredServer {
  readonly serverId: string
  /** Names of the offered tools, as the server defines them; null for all. */
  readonly tools: readonly string[] | null
  /** Whether calls of a tool, by the server's name for it, require approval by a person. */
  readonly needsApproval: (tool: string) => boolean
}

/** Parses `mcp_…`, or `{server_id, tools?, require_approval?}`; null for anything else. */
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
 * Returns a function that decides which tools require approval. Without a rule, all do. `{tools: […]}` lists those that
 * do. `{tools: {name: …}}` and `{always, never}` decide per tool, and tools that they do not mention require approval.
 * Null for an invalid rule.
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
