import {
  array,
  boolean,
  defaulted,
  integer,
  jsonObject,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from './schema.ts'

/** How bad a wrong call would be. */
export const riskLevel = oneOf('low', 'medium', 'high', 'critical')

/** Seconds until an approval that nobody gives expires; at most 7 days. */
export const expiresIn = integer({ min: 1, max: 604_800 })

const toolName = string({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' })

/** Run by the caller, which gives the output back. */
const functionTool = object(
  {
    type: oneOf('function'),
    function: object({
      name: toolName,
      description: optional(string({ maxLength: 4096 })),
      parameters: optional(jsonObject()),
      strict: optional(boolean()),
    }),
    needsApproval: optional(boolean()),
    risk_level: optional(riskLevel),
    expires_in: optional(expiresIn),
  },
  { title: 'FunctionTool' },
)

/** Run by this server: a signed POST to `url`. */
const httpTool = object(
  {
    type: oneOf('http'),
    name: toolName,
    description: optional(string({ maxLength: 4096 })),
    parameters: optional(jsonObject()),
    url: string({ maxLength: 2048, pattern: '^https?://' }),
    method: optional(oneOf('POST', 'PUT', 'PATCH')),
    headers: optional(record(string({ maxLength: 4096 }), { maxProperties: 32 })),
    risk_level: optional(riskLevel),
    effect: optional(oneOf('idempotent', 'at_most_once')),
    needsApproval: optional(boolean()),
    timeout_ms: optional(integer({ min: 1, max: 120_000 })),
    expires_in: optional(expiresIn),
  },
  { title: 'HttpTool' },
)

/** Run by this server: searches the web. */
const webSearchTool = object(
  {
    type: oneOf('web_search_preview'),
    search_context_size: optional(oneOf('low', 'medium', 'high')),
    needsApproval: optional(boolean()),
  },
  { title: 'WebSearchTool' },
)

/** A tool of a turn or of an agent's config (interface "Sessions API"). */
export const tool = union([functionTool, httpTool, webSearchTool], 'type')

/** The tools of a turn or agent. */
export const tools = array(tool, { maxItems: 128 })

/** Outputs of tools that the caller ran. */
export const toolResults = array(object({ action_id: string({ minLength: 1, maxLength: 128 }), output: string() }), {
  maxItems: 128,
})

/** Free fields that the caller keeps with a resource. */
export const metadata = defaulted(jsonObject(), {})
