import { secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  json,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  record,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { statuses } from '#specs/statuses.ts'
import { scanFinding } from '../skills.ts'
import { serverAuth as auth, authWords } from './mcp-auth.ts'
import { callTimeoutMs, maxResourceUri } from './mcp-limits.ts'

const all = '/v1/mcp/servers'
const one = `${all}/{server_id}` as const

const name = string({
  minLength: 1,
  maxLength: 128,
  description: 'Name of the server. It prefixes the names of its tools as models see them.',
})
const url = string({ minLength: 1, maxLength: 2048, pattern: '^https?://', description: 'Endpoint of the server.' })
const transport = described(
  oneOf('auto', 'streamable_http', 'sse', 'a2a'),
  '`auto`: streamable HTTP, with a fallback to the older SSE transport. `a2a`: the server is an agent that speaks A2A, and `url` is that of its card; its only tool is `delegate`.',
)
const timeout = integer({ min: 1000, max: callTimeoutMs.max, description: 'Milliseconds until a call fails.' })
const headers = record(string({ maxLength: 8192 }), { maxProperties: 32 })
const toolStates = ['active', 'pending_review', 'disabled'] as const

const serverFields = {
  id: id('mcp'),
  name,
  url,
  transport,
  timeout_ms: timeout,
  tenant_id: described(
    nullable(string()),
    'Tenant that the server belongs to. Null if any tenant of the project may use it.',
  ),
  trust: described(boolean(), 'Whether the tools of the first discovery were activated without a review.'),
  header_names: described(
    array(string()),
    'Names of the headers that are sent with each request. Values are never returned.',
  ),
  auth: described(nullable(jsonObject()), authWords),
  status: described(
    oneOf(...statuses.mcp_server),
    '`failing`: the server does not respond; `error` contains the reason, and it is retried. `disabled`: the server is not called.',
  ),
  error: described(
    nullable(object({ code: string(), message: string() })),
    'Reason for which the server currently cannot be used.',
  ),
  failing_since: nullable(timestamp()),
  protocol_version: described(nullable(string()), 'Revision of MCP or A2A that the server speaks.'),
  transport_used: nullable(oneOf('streamable_http', 'sse', 'a2a')),
  server_info: described(nullable(jsonObject()), 'Name and version that the server reports.'),
  tool_count: integer(),
  pending_review_count: described(
    integer(),
    'Number of tools that are pending review and not yet available to agents.',
  ),
  hash: described(nullable(string()), 'SHA-256 of the snapshot of tools.'),
  snapshot_at: nullable(timestamp()),
  created_at: described(timestamp(), 'Time at which the resource was created.'),
  updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
}

const fieldChange = object({
  path: string({ description: 'Path in the definition, such as `input_schema.properties.to.type`.' }),
  before: json(),
  after: json(),
})

const tool = object(
  {
    name: string(),
    description: string(),
    input_schema: jsonObject(),
    annotations: described(nullable(jsonObject()), 'Hints from the server. Not verified.'),
    hash: described(string(), 'SHA-256 of the definition.'),
    state: described(
      oneOf(...toolStates),
      '`pending_review`: the tool is new, or its definition has changed since its approval; it is not offered to agents.',
    ),
    changes: described(
      nullable(array(fieldChange)),
      'Differences from the approved definition. Null if no definition was ever approved.',
    ),
    review: described(
      nullable(
        object({
          decision: oneOf('approve', 'reject'),
          reason: nullable(string()),
          by: object({ kind: string(), id: nullable(string()) }),
          at: timestamp(),
        }),
      ),
      'The latest decision.',
    ),
    findings: described(
      array(scanFinding),
      'Findings of the scan of its texts, with the rules for skills. They do not prevent an approval.',
    ),
  },
  { title: 'McpTool', description: 'A tool of a remote server, as discovered.' },
)

const server = object(serverFields, {
  title: 'McpServer',
  description: 'A remote tool server that speaks the Model Context Protocol (MCP).',
})

const serverWithTools = object(
  {
    ...serverFields,
    tools: array(tool),
    authorize_url: described(
      nullable(string()),
      'Link at which the owner of the server signs in, valid for 7 days; null if no sign-in is required. The tools are discovered as soon as the owner has signed in.',
    ),
  },
  { title: 'McpServerWithTools', description: 'A remote tool server with the snapshot of its tools.' },
)

const foreign = 'A prompt of the server. All texts come from the server and are not verified.'
const listedFields = { description: nullable(string()), mime_type: nullable(string()) }
const unread = described(array(string()), 'Lists that the server announces but failed to return.')

const difference = {
  added: array(string()),
  removed: array(string()),
  changed: array(object({ name: string(), changes: array(fieldChange) })),
  skipped: described(
    array(object({ name: string(), reason: string() })),
    'Tools that were skipped: `invalid_name`, `duplicate_name`, `invalid_schema`, `schema_too_large`, `description_too_long` or `hidden_characters`.',
  ),
}

/** Remote tool servers (MCP). */
export const mcpServers = defineOperations(
  { name: 'mcp_servers', ofTenants: 'tenant' },
  {
    create: {
      summary: 'Register a remote tool server',
      description:
        'Registers the server and discovers its tools. The tools are pending review unless `trust` is set. A server that cannot be reached is registered too: `error` contains the reason, and discovery is retried.',
      method: 'POST',
      path: all,
      access: secretKeyOrDashboard('admin'),
      body: object({
        name,
        url,
        tenant_id: described(optional(string({ minLength: 1, maxLength: 128 })), 'Tenant that the server belongs to.'),
        transport: defaulted(transport, 'auto'),
        timeout_ms: defaulted(timeout, callTimeoutMs.default),
        headers: described(
          optional(headers),
          'Headers to send with each request, such as `authorization`. Write-only.',
        ),
        auth: described(optional(auth), authWords),
        trust: described(
          defaulted(boolean(), false),
          'Whether the tools of the first discovery are activated without a review. Tools that are added or changed later are pending review.',
        ),
      }),
      answer: isJsonResponse(serverWithTools, { status: 201, secret: true }),
      errors: ['not_found', 'mcp_limit_reached', 'connection_limit_reached'],
    },
    list: {
      summary: 'List remote tool servers',
      description: 'Newest first. Returns the counts of tools; `mcp_servers.tools` returns the tools themselves.',
      method: 'GET',
      path: all,
      access: secretKeyOrDashboard('member'),
      query: {
        ...cursorQuery,
        status: optional(oneOf(...statuses.mcp_server)),
      },
      answer: isJsonResponse(cursorPage(server)),
    },
    get: {
      summary: 'Retrieve a remote tool server',
      description:
        'Returns the server with its status and the counts of its tools. The values of its headers are never returned.',
      method: 'GET',
      path: one,
      access: secretKeyOrDashboard('member'),
      answer: isJsonResponse(server),
    },
    update: {
      summary: 'Update a remote tool server',
      description:
        'A new `url` is validated. Stored headers are sent only to the address that they were set for: a `url` with another origin, path or query requires new headers, and removes `auth` unless it is set again. Changing `url`, `transport`, `headers` or `auth` triggers a new discovery of the tools. An `auth` with `type` is removed by any change of the `url` that does not set it again, and its tokens are revoked.',
      method: 'PATCH',
      path: one,
      access: secretKeyOrConsole,
      body: object({
        name: optional(name),
        url: optional(url),
        transport: optional(transport),
        timeout_ms: optional(timeout),
        headers: described(optional(nullable(headers)), 'Replaces all headers. Null removes them.'),
        auth: described(optional(nullable(auth)), authWords),
        enabled: described(optional(boolean()), '`false` disables the server; `true` re-enables it.'),
      }),
      answer: isJsonResponse(server),
      errors: ['invalid_transition', 'connection_limit_reached'],
    },
    delete: {
      summary: 'Disable a remote tool server',
      description:
        'The server is no longer called, and its tools are no longer offered to agents. To re-enable it, update it with `enabled: true`.',
      method: 'DELETE',
      path: one,
      access: secretKeyOrConsole,
      answer: isJsonResponse(server),
    },
    refresh_tools: {
      summary: 'Refresh the tools of a remote tool server',
      description: 'Discovers the tools again and returns the difference. New and changed tools are pending review.',
      method: 'POST',
      path: `${one}/refresh-tools`,
      access: secretKeyOrDashboard('admin'),
      answer: isJsonResponse(
        object({ ...difference, tools: array(tool), hash: nullable(string()), snapshot_at: nullable(timestamp()) }),
      ),
      errors: ['invalid_transition', 'mcp_server_failed'],
    },
    test: {
      summary: 'Test a remote tool server',
      description: 'Connects to the server and lists what it offers. Nothing is stored.',
      method: 'POST',
      path: `${one}/test`,
      access: secretKeyOrDashboard('admin'),
      answer: isJsonResponse(
        object({
          ok: boolean(),
          latency_ms: integer(),
          error: nullable(object({ code: string(), message: string() })),
          protocol_version: nullable(string()),
          transport_used: nullable(oneOf('streamable_http', 'sse', 'a2a')),
          server_info: nullable(jsonObject()),
          tool_count: integer(),
          resources: described(array(jsonObject()), 'Resources that the server lists, at most 100.'),
          prompts: described(array(jsonObject()), 'Prompts that the server lists, at most 100.'),
        }),
      ),
      idempotency: 'ignored',
    },
    tools: {
      summary: 'List the tools of a remote tool server',
      description: 'Returns the stored snapshot, without a request to the server.',
      method: 'GET',
      path: `${one}/tools`,
      access: secretKeyOrDashboard('member'),
      query: { state: optional(oneOf(...toolStates)) },
      answer: isJsonResponse(
        object({ tools: array(tool), snapshot_at: nullable(timestamp()), hash: nullable(string()), ...difference }),
      ),
    },
    resources: {
      summary: 'List the resources of a remote tool server',
      description:
        'Returns the result of the latest discovery, without a request to the server. They are not passed to any model.',
      method: 'GET',
      path: `${one}/resources`,
      access: secretKeyOrDashboard('member'),
      answer: isJsonResponse(
        object({
          resources: array(
            object({ uri: string(), name: string(), ...listedFields }, { title: 'McpResource', description: foreign }),
          ),
          resource_templates: array(
            object(
              { uri_template: string({ description: 'URI template (RFC 6570).' }), name: string(), ...listedFields },
              { title: 'McpResourceTemplate', description: foreign },
            ),
          ),
          left_out: described(
            integer(),
            'Number of entries that were dropped from all lists: beyond 500 per list, too long, or with hidden text.',
          ),
          unread,
          snapshot_at: nullable(timestamp()),
        }),
      ),
    },
    read_resource: {
      summary: 'Read a resource of a remote tool server',
      description:
        "Reads the resource from the server, authenticated with the stored headers or the project's own connection. Nothing is stored. The contents come from the server and are untrusted.",
      method: 'POST',
      path: `${one}/resources/read`,
      access: secretKeyOrConsole,
      body: object({ uri: string({ minLength: 1, maxLength: maxResourceUri }) }),
      answer: isJsonResponse(
        object({
          contents: array(
            object(
              {
                uri: string(),
                mime_type: nullable(string()),
                text: nullable(string()),
                blob: described(nullable(string()), 'Binary content as base64.'),
              },
              { title: 'McpResourceContent', description: 'A part of a resource. Its content is untrusted.' },
            ),
          ),
        }),
      ),
      errors: ['invalid_transition', 'mcp_server_failed'],
      idempotency: 'ignored',
    },
    prompts: {
      summary: 'List the prompts of a remote tool server',
      description:
        'Returns the result of the latest discovery, without a request to the server. They are not passed to any model.',
      method: 'GET',
      path: `${one}/prompts`,
      access: secretKeyOrDashboard('member'),
      answer: isJsonResponse(
        object({
          prompts: array(
            object(
              {
                name: string(),
                description: nullable(string()),
                arguments: array(object({ name: string(), description: nullable(string()), required: boolean() })),
              },
              { title: 'McpPrompt', description: foreign },
            ),
          ),
          unread,
          snapshot_at: nullable(timestamp()),
        }),
      ),
    },
    fill_prompt: {
      summary: 'Fill a prompt of a remote tool server',
      description:
        'Lets the server render the prompt with the given arguments. Nothing is stored, and nothing is passed to a model. The messages come from the server and are untrusted.',
      method: 'POST',
      path: `${one}/prompts/fill`,
      access: secretKeyOrConsole,
      body: object({
        name: string({ minLength: 1, maxLength: 256 }),
        arguments: optional(record(string({ maxLength: 16_384 }), { maxProperties: 32 })),
      }),
      answer: isJsonResponse(
        object({
          description: nullable(string()),
          messages: array(object({ role: oneOf('user', 'assistant'), text: string() })),
        }),
      ),
      errors: ['invalid_transition', 'mcp_server_failed'],
      idempotency: 'ignored',
    },
    review_tool: {
      summary: 'Review a tool of a remote tool server',
      description: '`approve` makes the tool, as currently defined, available to agents. `reject` disables it.',
      method: 'POST',
      path: `${one}/tools/{tool_name}/review`,
      access: secretKeyOrDashboard('admin'),
      body: object({
        decision: oneOf('approve', 'reject'),
        reason: optional(string({ minLength: 1, maxLength: 1024 })),
        hash: described(
          optional(string({ minLength: 1, maxLength: 128 })),
          'Hash of the definition that you reviewed. If the definition has changed since, the request is refused.',
        ),
      }),
      answer: isJsonResponse(tool),
      errors: ['version_conflict'],
    },
  },
)

declare module '#specs/index.ts' {
  interface Resources {
    readonly mcpServers: typeof mcpServers
  }
}
