import { secretKeyOnly, secretKeyOrDashboard } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
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
import { callTimeoutMs, maxResourceUri } from './mcp-limits.ts'

const all = '/v1/mcp/servers'
const one = `${all}/{server_id}` as const

const name = string({ minLength: 1, maxLength: 128, description: 'Names of the tools that models see begin with it.' })
const url = string({ minLength: 1, maxLength: 2048, pattern: '^https?://', description: 'Endpoint of the server.' })
const transport = described(
  oneOf('auto', 'streamable_http', 'sse'),
  '`auto`: streamable HTTP, and the older SSE where the server has only that.',
)
const timeout = integer({ min: 1000, max: callTimeoutMs.most, description: 'Milliseconds until a call fails.' })
const headers = record(string({ maxLength: 8192 }), { maxProperties: 32 })
const auth = object({
  connection_id: optional(
    string({ minLength: 1, maxLength: 128, description: 'Connection; with `owner` the pattern for those of others.' }),
  ),
  connector: optional(
    string({ minLength: 1, maxLength: 128, description: 'Connector, of which `owner` has a connection.' }),
  ),
  owner: described(
    optional(oneOf('project', 'tenant', 'end_user')),
    'Whose connection is used: that of the tenant or end user whose session or run calls, or the one of the project.',
  ),
})
const authWords =
  'Connection whose token goes with each call. Of an end user, it is the one of the user whose session or run calls. It goes to the origin that it was named for.'
const toolStates = ['active', 'pending_review', 'disabled'] as const

const serverFields = {
  id: id('mcp'),
  name,
  url,
  transport,
  timeout_ms: timeout,
  tenant_id: described(
    nullable(string()),
    'Tenant that the server belongs to. Null: any tenant of the project may use it.',
  ),
  trust: described(boolean(), 'Whether the tools of the first discovery were active at once.'),
  header_names: described(
    array(string()),
    'Names of the headers that go with each request. Their values are never returned.',
  ),
  auth: described(nullable(jsonObject()), authWords),
  status: described(
    oneOf('discovering', 'active', 'failing', 'disabled'),
    '`failing`: it does not answer, for the reason in `error`, and is tried again. `disabled`: it is not called.',
  ),
  error: described(nullable(object({ code: string(), message: string() })), 'Why the server cannot be used now.'),
  failing_since: nullable(timestamp()),
  protocol_version: described(nullable(string()), 'Revision of the protocol that the server speaks.'),
  transport_used: nullable(oneOf('streamable_http', 'sse')),
  server_info: described(nullable(jsonObject()), 'Name and version as the server reports them.'),
  tool_count: integer(),
  pending_review_count: described(integer(), 'Tools that no agent sees before a review.'),
  hash: described(nullable(string()), 'SHA-256 of the snapshot of tools.'),
  snapshot_at: nullable(timestamp()),
  created_at: described(timestamp(), 'Time of creation.'),
  updated_at: described(timestamp(), 'Time of the last change.'),
}

const fieldChange = object({
  path: string({ description: 'Place in the definition, such as `input_schema.properties.to.type`.' }),
  before: json(),
  after: json(),
})

const tool = object(
  {
    name: string(),
    description: string(),
    input_schema: jsonObject(),
    annotations: described(nullable(jsonObject()), 'Hints of the server. They are not verified.'),
    hash: described(string(), 'SHA-256 of the definition.'),
    state: described(
      oneOf(...toolStates),
      '`pending_review`: it is new, or defined otherwise than it was approved, and no agent sees it.',
    ),
    changes: described(
      nullable(array(fieldChange)),
      'Differences from the definition that was approved. Null: none ever was.',
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
      'The newest decision.',
    ),
  },
  { title: 'McpTool', description: 'A tool of a remote server, as it was discovered.' },
)

const server = object(serverFields, {
  title: 'McpServer',
  description: 'A remote server of tools that speaks the Model Context Protocol.',
})

const serverWithTools = object(
  { ...serverFields, tools: array(tool) },
  { title: 'McpServerWithTools', description: 'A remote tool server with the snapshot of its tools.' },
)

const foreign = "Texts are the server's own. They are not verified."
const listedFields = { description: nullable(string()), mime_type: nullable(string()) }
const unread = described(array(string()), 'Lists that the server offers and did not give.')

const difference = {
  added: array(string()),
  removed: array(string()),
  changed: array(object({ name: string(), changes: array(fieldChange) })),
  skipped: described(
    array(object({ name: string(), reason: string() })),
    'Tools that are not taken: `invalid_name`, `duplicate_name`, `invalid_schema`, `schema_too_large`, `description_too_long` or `hidden_characters`.',
  ),
}

/** Remote servers of tools. */
export const mcpServers = defineOperations(
  { name: 'mcp_servers', ofTenants: 'tenant' },
  {
    create: {
      summary: 'Register a remote tool server',
      description:
        'Discovers the tools of the server. They wait for a review, unless `trust` is set. A server that cannot be reached is registered too: `error` holds the reason, and the server is tried again.',
      method: 'POST',
      path: all,
      access: secretKeyOnly,
      body: object({
        name,
        url,
        tenant_id: described(optional(string({ minLength: 1, maxLength: 128 })), 'Tenant that the server belongs to.'),
        transport: defaulted(transport, 'auto'),
        timeout_ms: defaulted(timeout, callTimeoutMs.default),
        headers: described(optional(headers), 'Headers of each request, such as `authorization`. They are write-only.'),
        auth: described(optional(auth), authWords),
        trust: described(
          defaulted(boolean(), false),
          'The tools of the first discovery are active without a review. Later ones, and changes, wait for one.',
        ),
      }),
      answer: answersJson(serverWithTools, { status: 201 }),
      errors: ['not_found', 'mcp_limit_reached'],
    },
    list: {
      summary: 'List remote tool servers',
      description: 'Newest first.',
      method: 'GET',
      path: all,
      access: secretKeyOrDashboard('member'),
      query: {
        ...cursorQuery,
        status: optional(oneOf('discovering', 'active', 'failing', 'disabled')),
      },
      answer: answersJson(cursorPage(server)),
    },
    get: {
      summary: 'Retrieve a remote tool server',
      method: 'GET',
      path: one,
      access: secretKeyOrDashboard('member'),
      answer: answersJson(server),
    },
    update: {
      summary: 'Update a remote tool server',
      description:
        'A new `url` is checked again. Headers stay with the origin that they were given for: a URL of another one needs new ones. A change of `url`, `transport`, headers or `auth` discovers the tools again.',
      method: 'PATCH',
      path: one,
      access: secretKeyOnly,
      body: object({
        name: optional(name),
        url: optional(url),
        transport: optional(transport),
        timeout_ms: optional(timeout),
        headers: described(optional(nullable(headers)), 'Replaces all headers. Null removes them.'),
        auth: described(optional(nullable(auth)), authWords),
        enabled: described(optional(boolean()), 'False disables the server, true enables it again.'),
      }),
      answer: answersJson(server),
      errors: ['invalid_transition'],
    },
    delete: {
      summary: 'Disable a remote tool server',
      description:
        'The server is no longer called, and no agent sees its tools. An update with `enabled: true` enables it again.',
      method: 'DELETE',
      path: one,
      access: secretKeyOnly,
      answer: answersJson(server),
    },
    refresh_tools: {
      summary: 'Refresh the tools of a remote tool server',
      description: 'Discovers the tools again and returns the difference. A new or changed tool waits for a review.',
      method: 'POST',
      path: `${one}/refresh-tools`,
      access: secretKeyOrDashboard('admin'),
      answer: answersJson(
        object({ ...difference, tools: array(tool), hash: nullable(string()), snapshot_at: nullable(timestamp()) }),
      ),
      errors: ['invalid_transition', 'mcp_server_failed'],
    },
    test: {
      summary: 'Test a remote tool server',
      description: 'Connects now and lists what the server offers. Nothing is stored.',
      method: 'POST',
      path: `${one}/test`,
      access: secretKeyOrDashboard('admin'),
      answer: answersJson(
        object({
          ok: boolean(),
          latency_ms: integer(),
          error: nullable(object({ code: string(), message: string() })),
          protocol_version: nullable(string()),
          transport_used: nullable(oneOf('streamable_http', 'sse')),
          server_info: nullable(jsonObject()),
          tool_count: integer(),
          resources: described(array(jsonObject()), 'Resources that the server lists: at most 100.'),
          prompts: described(array(jsonObject()), 'Prompts that the server lists: at most 100.'),
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
      answer: answersJson(
        object({ tools: array(tool), snapshot_at: nullable(timestamp()), hash: nullable(string()), ...difference }),
      ),
    },
    resources: {
      summary: 'List the resources of a remote tool server',
      description: 'As the newest discovery found them. Nothing is requested of the server, and no model sees them.',
      method: 'GET',
      path: `${one}/resources`,
      access: secretKeyOrDashboard('member'),
      answer: answersJson(
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
            'Entries of all lists that are not kept: more than 500 of a list, too long, or with text that a person does not see.',
          ),
          unread,
          snapshot_at: nullable(timestamp()),
        }),
      ),
    },
    read_resource: {
      summary: 'Read a resource of a remote tool server',
      description:
        "Reads it at the server now, with the server's headers or the project's own connection. Nothing is kept. Contents are the server's own and untrusted.",
      method: 'POST',
      path: `${one}/resources/read`,
      access: secretKeyOnly,
      body: object({ uri: string({ minLength: 1, maxLength: maxResourceUri }) }),
      answer: answersJson(
        object({
          contents: array(
            object(
              {
                uri: string(),
                mime_type: nullable(string()),
                text: nullable(string()),
                blob: described(nullable(string()), 'Bytes in base64.'),
              },
              { title: 'McpResourceContent', description: 'A part of a resource. Untrusted.' },
            ),
          ),
        }),
      ),
      errors: ['invalid_transition', 'mcp_server_failed'],
      idempotency: 'ignored',
    },
    prompts: {
      summary: 'List the prompts of a remote tool server',
      description: 'As the newest discovery found them. Nothing is requested of the server, and no model sees them.',
      method: 'GET',
      path: `${one}/prompts`,
      access: secretKeyOrDashboard('member'),
      answer: answersJson(
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
        "Has the server fill it now. Nothing is kept, and nothing is given to a model. The messages are the server's own and untrusted.",
      method: 'POST',
      path: `${one}/prompts/fill`,
      access: secretKeyOnly,
      body: object({
        name: string({ minLength: 1, maxLength: 256 }),
        arguments: optional(record(string({ maxLength: 16_384 }), { maxProperties: 32 })),
      }),
      answer: answersJson(
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
      description: '`approve` offers the tool, as it is defined now, to agents. `reject` disables it.',
      method: 'POST',
      path: `${one}/tools/{tool_name}/review`,
      access: secretKeyOrDashboard('admin'),
      body: object({
        decision: oneOf('approve', 'reject'),
        reason: optional(string({ minLength: 1, maxLength: 1024 })),
        hash: described(
          optional(string({ minLength: 1, maxLength: 128 })),
          'Hash of the definition that was read: another one is refused.',
        ),
      }),
      answer: answersJson(tool),
      errors: ['version_conflict'],
    },
  },
)

declare module '#specs/index.ts' {
  interface Resources {
    readonly mcpServers: typeof mcpServers
  }
}
