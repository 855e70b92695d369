import type { Operation } from '../dsl/declare.ts'
import { array, described, nullable, object, optional, string } from '../dsl/schema.ts'

/**
 * The groups of operations, with the resources of each; ids of operations begin with the name of a resource. An operation that
 * shows more than its resource is named by its whole id.
 */
const groups: Readonly<Record<string, readonly string[]>> = {
  sessions: ['sessions', 'ui_messages', 'ag_ui'],
  runs: ['runs', 'a2a'],
  actions: ['actions', 'action_reviews'],
  agents: ['agents', 'agent_versions', 'agent_catalog', 'installations'],
  models: [
    ...['models', 'chat_completions', 'ai_chat', 'responses', 'conversations', 'conversation_items', 'messages'],
    'gemini',
    ...['completions', 'embeddings', 'rerank', 'moderations', 'images', 'vision', 'speech', 'transcriptions'],
    ...['batches', 'message_batches', 'realtime'],
  ],
  prompts: ['prompts', 'prompt_versions'],
  memory: ['memory'],
  knowledge: [
    ...['knowledge_bases', 'knowledge_grants', 'knowledge_sources', 'knowledge_recall_sets', 'files', 'vector_stores'],
    ...['vector_store_files', 'vector_store_file_batches'],
  ],
  tenants: ['tenants', 'tenant_users', 'end_users'],
  // everything that a tenant has, such as its sessions and memories
  exports: ['tenants.export'],
  keys: ['client_tokens', 'agent_keys', 'realtime_secrets'],
  web: ['web', 'web_crawls', 'web_takedowns', 'browser_jobs', 'browser_profiles'],
  connections: ['connections', 'connectors'],
  tool_servers: ['mcp_servers'],
  skills: ['skills', 'skill_versions', 'skill_imports'],
  providers: ['provider_connections', 'model_syncs'],
  webhooks: ['webhooks', 'webhook_deliveries'],
  usage: ['usage', 'rate_plans', 'limits', 'credits'],
  // the texts of requests and answers
  request_log: ['request_log'],
  settings: [
    ...[
      'redaction_policy',
      'routing_policy',
      'cache_policy',
      'guardrails',
      'retention_settings',
      'request_log_settings',
      'audit_log',
      'stuck',
    ],
  ],
}

/** Names of the groups of operations. */
export const operationGroups: readonly string[] = Object.keys(groups)

const groupOfResource = new Map(
  Object.entries(groups).flatMap(([group, resources]) => resources.map((name) => [name, group] as const)),
)

/** Operations that change nothing, although their method is not GET. */
const reading: ReadonlySet<string> = new Set([
  ...['memory.search', 'memory.export', 'knowledge_bases.search', 'knowledge_recall_sets.measure'],
  'vector_stores.search',
  ...[
    'responses.input_tokens',
    'messages.count_tokens',
    'gemini.count_tokens',
    'tenants.export',
    'agent_versions.validate',
  ],
])

type OperationName = Pick<Operation, 'id' | 'method'>

/** Whether an operation changes nothing. A realtime session is opened by GET, and calls models. */
export const isReading = ({ id, method }: OperationName): boolean =>
  (method === 'GET' && id !== 'realtime.connect') || reading.has(id)

/** The group of an operation; null for one that only dashboard sessions or no credentials call. */
export const groupOf = ({ id }: Pick<Operation, 'id'>): string | null =>
  groupOfResource.get(id) ?? groupOfResource.get(id.slice(0, id.lastIndexOf('.'))) ?? null

/** Whether the `operations` of a key include an operation. */
export const includesOperation = (granted: ReadonlySet<string>, operation: OperationName): boolean => {
  if (granted.has('write')) return true
  const group = groupOf(operation)
  if (group !== null && (granted.has(group) || granted.has(`${group}:write`))) return true
  return isReading(operation) && (granted.has('read') || (group !== null && granted.has(`${group}:read`)))
}

/** Whether the `operations` of a key include one entry of another list of operations, such as `sessions:read`. */
export const includesEntry = (granted: ReadonlySet<string>, entry: string): boolean => {
  if (granted.has('write') || granted.has(entry)) return true
  const [group = '', part] = entry.split(':')
  if (granted.has(group) || granted.has(`${group}:write`)) return true
  return part === 'read' && granted.has('read')
}

/**
 * How an operation concerns tenants, for keys that are limited to some.
 * - `owned`: what it reads and changes belongs to a tenant, or is charged to one.
 * - `shared`: it reads what all tenants of the project share.
 * - `project`: it concerns the project, or all tenants at once, so such keys cannot call it.
 */
export type Tenancy = 'owned' | 'shared' | 'project'

/** Resources whose rows belong to tenants, although callers do not filter them by tenant. */
const owned: ReadonlySet<string> = new Set([
  'responses',
  'conversations',
  'conversation_items',
  'client_tokens',
  'realtime_secrets',
])
const shared: ReadonlySet<string> = new Set([
  ...['agents', 'agent_versions', 'agent_catalog', 'models', 'connectors', 'skills', 'skill_versions'],
  ...['prompts', 'prompt_versions'],
])

/** Returns how an operation concerns tenants. An operation that is not declared to concern them is `project`. */
export const tenancyOf = (operation: Operation): Tenancy => {
  const resource = operation.id.slice(0, operation.id.lastIndexOf('.'))
  const isOwned = operation.attributed || operation.ofTenants !== null || operation.params.includes('tenant_id')
  if (isOwned || owned.has(resource) || operation.id === 'tenants.list') return 'owned'
  return shared.has(resource) && isReading(operation) ? 'shared' : 'project'
}

const model = string({ minLength: 1, maxLength: 256 })
const tenant = string({ minLength: 1, maxLength: 128 })
const operation = string({ pattern: `^(read|write|(${operationGroups.join('|')})(:read|:write)?)$` })

const fields = {
  models: described(
    optional(array(model, { minItems: 1, maxItems: 100 })),
    'Models that requests with the key may use, each as requests name it. Default: no limit.',
  ),
  tenants: described(
    optional(array(tenant, { minItems: 1, maxItems: 50 })),
    'Tenants that the key reaches. A key of one tenant acts for that tenant; with several, each request names one, such as in `X-Tenant-Id`. What all tenants share can be read; the rest of the project is out of reach. Default: no limit.',
  ),
  operations: described(
    optional(array(operation, { minItems: 1, maxItems: 50 })),
    `Operations that the key may call: \`read\` (those that change nothing), \`write\` (all), or those of a group, such as \`sessions\` or \`sessions:read\`. Groups: ${operationGroups.join(', ')}. Default: no limit.`,
  ),
  guardrails: described(
    optional(array(string({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: 16 })),
    'Names or ids of guardrails that check the model calls of its requests, sessions and runs, in addition to those of the project, the agent and the request. One that was deleted refuses the calls. Default: none.',
  ),
}

/** The `scopes` of a key: what it is limited to; null: to nothing. */
export const keyScopes = described(
  nullable(object(fields, { title: 'KeyScopes', description: 'Limits of a key.' })),
  'Limits of the key. A request beyond them is 403 `insufficient_scope`, and `param` names what is missing. Default: none.',
)

/** The stored `scopes` of a key. */
export type KeyScopes = {
  readonly models?: readonly string[]
  readonly tenants?: readonly string[]
  readonly operations?: readonly string[]
  readonly guardrails?: readonly string[]
}
