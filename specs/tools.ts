import {
  array,
  boolean,
  defaulted,
  described,
  integer,
  jsonObject,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from './dsl/schema.ts'

/** Risk of a tool call. */
export const riskLevel = described(
  oneOf('low', 'medium', 'high', 'critical'),
  'Risk of a tool call, shown to approvers.',
)

/** Lifetime of an approval in seconds; at most 7 days. */
export const expiresIn = integer({
  min: 1,
  max: 604_800,
  description: 'Seconds until the action expires; at most 604,800 (7 days).',
})

const toolName = string({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-zA-Z0-9_-]+$',
  description: 'Name by which the model calls the tool.',
})
const description = string({ maxLength: 4096, description: 'Tells the model when to call the tool.' })
const parameters = described(jsonObject(), 'JSON Schema of the arguments.')
const needsApproval = described(boolean(), 'Whether calls require approval.')

/** Who may decide about a tool call that requires approval. */
export const approver = oneOf('operator', 'end_user')
const approverOfTool = described(
  optional(approver),
  "Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool.",
)

/** A tool that the caller executes. */
const functionTool = object(
  {
    type: oneOf('function'),
    function: object({
      name: toolName,
      description: optional(description),
      parameters: optional(parameters),
      strict: described(
        optional(boolean()),
        'Whether arguments must match `parameters` exactly, where the provider supports it.',
      ),
    }),
    needsApproval: optional(needsApproval),
    approver: approverOfTool,
    risk_level: optional(riskLevel),
    expires_in: optional(expiresIn),
  },
  { title: 'FunctionTool', description: 'Tool that the caller runs. The caller sends its output in `tool_results`.' },
)

const headers = record(string({ maxLength: 4096 }), { maxProperties: 32 })

/** Fields of a request that the server makes. */
const request = {
  url: string({ maxLength: 2048, pattern: '^https?://', description: 'URL that the arguments are sent to.' }),
  method: described(optional(oneOf('POST', 'PUT', 'PATCH')), 'HTTP method. Default: `POST`.'),
  timeout_ms: optional(integer({ min: 1, max: 120_000, description: 'Timeout of the call in milliseconds.' })),
}

/** The request that an approved action makes. */
export const execution = object(
  {
    type: oneOf('http'),
    ...request,
    headers: described(
      optional(headers),
      'Headers of the request. Values are write-only: responses contain `[masked]`.',
    ),
  },
  { title: 'ActionExecution', description: 'Signed request that the server makes once the action is approved.' },
)

/** A tool that the server executes by a signed request to `url`. */
const httpTool = object(
  {
    type: oneOf('http'),
    name: toolName,
    description: optional(description),
    parameters: optional(parameters),
    ...request,
    headers: described(
      optional(headers),
      'Headers of the request. Values are write-only: responses contain `[masked]`, and sending `[masked]` back keeps the stored value.',
    ),
    risk_level: optional(riskLevel),
    effect: described(
      optional(oneOf('idempotent', 'at_most_once')),
      'Whether a call may be retried after a failure. Default: `at_most_once`.',
    ),
    needsApproval: optional(needsApproval),
    approver: approverOfTool,
    expires_in: optional(expiresIn),
  },
  { title: 'HttpTool', description: 'Tool that the server runs by sending a signed request to `url`.' },
)

/** A web search that the server executes. */
const webSearchTool = object(
  {
    type: oneOf('web_search_preview'),
    search_context_size: described(
      optional(oneOf('low', 'medium', 'high')),
      'Amount of context that a search returns.',
    ),
    needsApproval: optional(needsApproval),
    approver: approverOfTool,
  },
  { title: 'WebSearchTool', description: 'Web search that the server runs.' },
)

/** Types of tools for which this server calls a URL in the tool. They require a secret credential. */
export const serverRunTools: readonly string[] = ['http', 'mcp']

const remoteToolName = string({ minLength: 1, maxLength: 128 })
const gate = oneOf('always', 'never')

/** Tools of a remote server. */
export const mcpTool = object(
  {
    type: oneOf('mcp'),
    server_id: described(
      optional(string({ minLength: 1, maxLength: 128 })),
      'Id of a registered server. Its active tools are offered.',
    ),
    server_label: optional(
      string({
        minLength: 1,
        maxLength: 64,
        pattern: '^[a-zA-Z0-9_-]+$',
        description: 'Label of the server at `server_url`. It prefixes the names of its tools.',
      }),
    ),
    server_url: optional(
      string({
        maxLength: 2048,
        pattern: '^https?://',
        description: 'URL of a server that is not registered. All its tools are offered without a review.',
      }),
    ),
    headers: described(optional(headers), 'Headers to send with each request to `server_url`. Write-only.'),
    authorization: optional(string({ maxLength: 8192, description: 'Access token for `server_url`. Write-only.' })),
    allowed_tools: described(
      optional(array(remoteToolName, { maxItems: 512 })),
      'Names of the tools to offer, as the server names them. Default: all.',
    ),
    require_approval: described(
      optional(
        union([
          gate,
          // two objects, not one with either: openapi-generator's Java client does not compile a union of a list and a
          // map
          object({ tools: array(remoteToolName, { maxItems: 512 }) }),
          object({ tools: record(gate, { maxProperties: 512 }) }),
          object({
            always: optional(object({ tool_names: array(remoteToolName, { maxItems: 512 }) })),
            never: optional(object({ tool_names: array(remoteToolName, { maxItems: 512 }) })),
          }),
        ]),
      ),
      'Which calls require approval. Default: all. `{"tools": ["send"]}` lists the tools whose calls require it; `{"tools": {"read": "never"}}` sets it per tool.',
    ),
  },
  {
    title: 'McpToolDeclaration',
    description: 'Tools of a remote server that speaks the Model Context Protocol (MCP).',
  },
)

/** A tool of a turn (`sessions.turns`) or of an agent's config (`agents.create`). */
export const tool = union([functionTool, httpTool, webSearchTool], 'type')

/** The tools of an agent. */
export const tools = array(tool, { maxItems: 128 })

/** The tools of a turn, which may also be all tools of a remote server. */
export const turnTools = array(union([functionTool, httpTool, webSearchTool, mcpTool], 'type'), { maxItems: 128 })

/** Outputs of tools that the caller executed. */
export const toolResults = described(
  array(
    object({
      action_id: string({ minLength: 1, maxLength: 128, description: 'Id of the tool call.' }),
      output: string({ description: 'Output for the model.' }),
    }),
    { maxItems: 128 },
  ),
  'Outputs of tools that you ran.',
)

/** Maximum size of metadata, in bytes of UTF-8 JSON. */
export const maxMetadataBytes = 16 * 1024

/** Metadata without a default, for updates. */
export const freeFields = jsonObject({ maxBytes: maxMetadataBytes })

/** Custom fields of the caller, stored with a resource. */
export const metadata = described(
  defaulted(freeFields, {}),
  'Your own fields, up to 16 KB of JSON. They are stored and returned unchanged.',
)
