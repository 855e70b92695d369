import { requestForm } from '#specs/dsl/ajv.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { inConsole } from '#specs/reach/console-paths.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { formFields } from './form-fields.ts'

/** A resource that the console has a page for. All else about it follows from the declarations. Lists are words. */
interface Shown {
  /** Name of its page, in the plural. */
  readonly title: string
  /** What one of them is called, other than the page without its last letter. */
  readonly one?: string
  /** Title of the first column of its list, other than Name. */
  readonly named?: string
  /** Columns of its list after the first, which is its name; `-`: not shown unless chosen. */
  readonly columns?: string
  /** Resources of which each belongs to one of this, shown with it. */
  readonly children?: string
  /** The operation that lists them, other than `list`. */
  readonly list?: string
  /** The operation that creates one, other than `create`. */
  readonly create?: string
  /** Operations that are not found by their name and path alone. */
  readonly acts?: string
  /** Operations that its list offers in each row. */
  readonly quick?: string
  /** Statuses that need a person, listed first. */
  readonly first?: string
  /** What its page says while there is none, other than that. */
  readonly none?: string
  /** What cells of columns say where there is no value. */
  readonly empty?: Readonly<Record<string, string>>
  /** A setting of the project: one row, which is read and replaced. */
  readonly single?: true
}

/** What a resource is, shown while there is none. */
const about: Readonly<Record<string, string>> = {
  agents:
    'An agent is a model with its prompt, tools, knowledge and limits. Sessions and runs use its published version.',
  installations: 'An installation gives a version of an agent to a tenant, with its own changes and policy.',
  prompts: 'A prompt is a template with variables and versions, which agents and requests use by its name.',
  mcp_servers: 'A remote MCP server gives agents its tools. A person reviews them first, and again when they change.',
  connections: 'A connection gives tools access to a service, by a key or by the sign-in of its owner.',
  webhooks: 'A webhook sends signed events to a server of yours: a run that ended, a call that waits for a decision.',
  tenants:
    'A tenant is a customer of yours. Its users, sessions, memories and costs are kept apart from those of others.',
  end_users: 'An end user is a person whom knowledge bases are granted to, by your own id.',
  rate_plans: 'A rate plan has the prices at which tenants are charged for what they use.',
  knowledge_bases: 'A knowledge base holds documents that agents search and cite.',
  provider_connections:
    "A key of yours for a provider of models, in place of the installation's. It is stored sealed, and calls of its models go through it.",
  custom_providers: 'A server of yours that speaks the format of a provider, such as vLLM or Ollama.',
  limits: 'A limit bounds the requests, and a budget the cost, of the project, a tenant, an agent or a key.',
  guardrails: 'A guardrail checks what is sent to a model or comes from it, and blocks, redacts or flags it.',
  skills: 'A skill is a folder of files that teaches agents a task.',
  skill_imports: 'An imported skill is scanned, and waits until an admin publishes it.',
  actions: 'An action is something that a program of yours wants to do, and that a person approves first.',
  batches: 'A batch is a file of requests that are answered within a day, at half of the rate limits.',
  message_batches: "A batch of messages is Anthropic's form of many requests that are answered within a day.",
  vector_stores: "A vector store is OpenAI's name of a knowledge base.",
  project_keys: 'A secret key lets your servers use the project.',
  projects: 'A project has its own keys, tenants, agents and data.',
  oidc_connections: 'Members sign in by the accounts of your company once its provider is named here.',
  oauth_grants: 'Apps that speak MCP request access when they are given the address of this server and /mcp.',
  memory: 'A memory is something that agents should know of a user the next time.',
  request_log: 'Send one to POST /v1/chat/completions with a key of this project.',
  stuck:
    'Work that no retry can finish waits here: a refused message, an overdue effect, a parked actor. You decide whether it is tried again, skipped or discarded.',
  audit_log: 'Every change that a person or a key made, with its reason.',
}

const shown: Readonly<Record<string, Shown>> = {
  agents: {
    ...{ title: 'Agents', columns: 'description visibility updated_at', acts: 'runs.create' },
    children: 'agent_versions agent_keys',
  },
  agent_versions: { title: 'Versions', named: 'Version', columns: 'status published_at created_at' },
  agent_keys: { title: 'Keys of the agent', one: 'key', columns: 'key_type prefix created_at' },
  installations: { title: 'Installations', columns: 'agent_id tenant_id version status' },
  prompts: { title: 'Prompts', columns: 'description latest_version updated_at', children: 'prompt_versions' },
  prompt_versions: { title: 'Versions', named: 'Version', columns: 'description model created_at' },
  mcp_servers: {
    ...{ title: 'Tool servers', columns: 'url status pending_review_count tool_count tenant_id snapshot_at' },
    ...{ first: 'failing', empty: { tenant_id: 'any' } },
  },
  connections: {
    ...{ title: 'Connections', columns: 'connector status owner_type tool_count key_last4 expires_at last_tested_at' },
    ...{ quick: 'connections.test connections.delete', first: 'error expired pending' },
  },
  webhooks: { title: 'Webhooks', columns: 'url events is_active', quick: 'webhooks.test' },
  tenants: {
    ...{ title: 'Tenants', columns: 'external_id status created_at', children: 'tenant_users' },
    acts: 'tenant_users.put',
  },
  tenant_users: { title: 'Users', columns: 'external_user_id created_at' },
  end_users: { title: 'End users', columns: 'external_id created_at' },
  rate_plans: {
    title: 'Rate plans',
    columns: 'markup_percent input_per_million_usd output_per_million_usd per_call_usd is_default',
  },
  knowledge_bases: {
    ...{ title: 'Knowledge', one: 'knowledge base', none: 'No knowledge bases yet' },
    ...{ columns: 'description tenant_id updated_at', empty: { tenant_id: 'whole project' } },
    children: 'knowledge_sources knowledge_grants knowledge_recall_sets',
  },
  knowledge_sources: {
    ...{ title: 'Sources', columns: 'status chunk_count synced_at changes', acts: 'knowledge_sources.sync' },
    ...{ quick: 'knowledge_sources.sync', first: 'failed pending' },
  },
  knowledge_grants: { title: 'Grants', columns: 'subject_type subject_id' },
  knowledge_recall_sets: { title: 'Recall sets', columns: 'created_at' },
  provider_connections: {
    ...{ title: 'Provider keys', columns: 'provider status updated_at', acts: 'model_syncs.create' },
    ...{ quick: 'provider_connections.test', first: 'failed' },
  },
  custom_providers: {
    ...{ title: 'Custom servers', columns: 'base_url api_format is_active' },
    quick: 'custom_providers.test',
  },
  limits: {
    ...{ title: 'Limits and budgets', one: 'limit' },
    columns: 'budget_day_usd budget_month_usd budget_total_usd requests_per_minute tokens_per_minute',
  },
  organizations: { title: 'Organization', columns: 'require_second_factor require_oidc updated_at' },
  guardrails: { title: 'Guardrails', columns: 'description is_default updated_at' },
  skills: {
    ...{ title: 'All skills', one: 'skill', none: 'No skills yet' },
    ...{ columns: 'description updated_at', children: 'skill_versions' },
  },
  skill_versions: { title: 'Versions', named: 'Version', columns: 'status created_at' },
  skill_imports: { title: 'Imports of skills', one: 'import', columns: 'status created_at', first: 'staged' },
  actions: { title: 'Actions', columns: 'status risk_level created_at' },
  batches: { title: 'Batches', one: 'batch', columns: 'endpoint status created_at' },
  message_batches: {
    ...{ title: 'Batches of messages', one: 'batch of messages' },
    columns: 'processing_status created_at',
  },
  vector_stores: {
    ...{ title: 'Vector stores', columns: 'status created_at', children: 'vector_store_files' },
    acts: 'vector_store_file_batches.create',
  },
  vector_store_files: { title: 'Files', columns: 'status created_at' },
  request_log_settings: { title: 'Request log', single: true },
  retention_settings: {
    ...{ title: 'Retention', single: true },
    empty: { sessions_days: 'no limit', runs_days: 'no limit', actions_days: 'no limit' },
  },
  project_keys: { title: 'Secret keys', columns: 'prefix last4 scopes last_used_at expires_at created_by' },
  projects: { title: 'Projects', columns: 'status allowed_origins created_at' },
  project_members: { title: 'Members', columns: 'email role has_second_factor' },
  oidc_connections: { title: 'Sign-in providers', columns: 'issuer redirect_uri is_active' },
  oauth_grants: {
    ...{ title: 'Apps', columns: 'scopes member_id last_used_at expires_at', quick: 'oauth_grants.delete' },
    ...{ none: 'No app has access', empty: { last_used_at: 'never', expires_at: 'never' } },
  },
  memory: {
    ...{
      title: 'Memories',
      one: 'memory',
      named: 'Memory',
      columns: 'scope sessionId namespace source pinned created_at',
      create: 'memory.write',
    },
    none: 'Nothing is remembered of this user.',
  },
  request_log: {
    ...{ title: 'Requests', named: 'Request' },
    columns:
      'status at tenant_id key_id duration_ms input_tokens output_tokens cost_usd attempts redactions -first_byte_ms -external_user_id -agent_id -model -asked_model -provider -request_id',
    ...{ none: 'No requests logged yet', empty: { cost_usd: 'unknown' } },
  },
  actors: {
    ...{ title: 'Actors', list: 'observation.actors' },
    columns: 'state -error tenant_id agent_id -external_user_id -id -failures created_at updated_at',
  },
  nodes: { title: 'Nodes', columns: 'current draining shards live_actors running_effects address redis started_at' },
  upkeep: {
    ...{ title: 'Housekeeping', columns: 'paused waiting oldest_at merged removed' },
    quick: 'upkeep.pause upkeep.resume',
  },
  auth_sessions: {
    ...{ title: 'Your sessions', columns: 'is_current created_at last_used_at method address_family' },
    quick: 'auth_sessions.delete',
  },
  stuck: {
    ...{ title: 'Stuck work', columns: 'kind actor_id reason attempts updated_at', none: 'Nothing is stuck.' },
    quick: 'stuck.retry stuck.discard',
  },
  audit_log: { title: 'Audit log', named: 'Action', columns: 'resource actor changes reason tenant_id created_at' },
}

/** Fields that a row needs for an operation; `!`: it has none; `=`: it has one of these values. */
const needs: Readonly<Record<string, readonly string[]>> = {
  'connections.refresh': ['expires_at'],
  'connections.reconnect': ['!key_last4'],
  'auth_sessions.delete': ['!is_current'],
  'stuck.skip': ['kind=parked_actor|poison_result|failing_reminder|overdue_effect'],
  'upkeep.pause': ['!paused'],
  'upkeep.resume': ['paused'],
}

const head = `import type { Field, Resource } from './types.ts'

/**
 * Resources that the console lists, creates and changes, with the fields of their forms. Made from the declarations by
 * \`npm run generate\`.
 */
export const resources: readonly Resource[] = `

/** Fields of `responses.create` that the playground edits in a form, and whether they are shown at once. */
const inPlayground = {
  ...{ instructions: true, temperature: true, max_output_tokens: true, tools: true },
  ...{ top_p: false, tool_choice: false, text: false },
}

/** Operations that are not a button: those of lists and forms, and those whose answer is another kind of thing. */
const verbs = new Set(['list', 'get', 'create', 'put', 'update', 'export'])

/** `console/resources/resources.ts`: what the console's pages of resources show and can do. */
export const consoleResources = (operations: readonly Operation[]): GeneratedFile => {
  const byId = new Map(
    operations
      .map((each) => inConsole(each) ?? each)
      .filter(isForMembers)
      .map((each) => [each.id, each]),
  )
  const lines = Object.entries(shown).map((entry) => `  ${JSON.stringify(resourceOf(entry, byId))},\n`)
  const { fields = [] } = actOf(byId.get('responses.create')) ?? {}
  const request = Object.entries(inPlayground).flatMap(([name, atOnce]) =>
    fields
      .filter((each) => each.name === name)
      .map(({ first: _, ...field }) => ({ ...field, ...(atOnce && { first: true }) })),
  )
  const bench = `/** Fields of a request that the playground edits. */\nexport const requestFields: readonly Field[] = ${JSON.stringify(request)}\n`
  return { path: 'console/resources/resources.ts', text: `${head}[\n${lines.join('')}]\n\n${bench}` }
}

const isForMembers = ({ access }: Operation): boolean => access.kinds.includes('dashboard')

const wordsIn = (text = ''): readonly string[] => text.split(' ').filter(Boolean)

const resourceOf = ([name, own]: readonly [string, Shown], byId: ReadonlyMap<string, Operation>) => {
  const { title, one: called = title.toLowerCase().replace(/s$/, '') } = own
  const { named, single, empty, none = `No ${title.toLowerCase()} yet` } = own
  const list = byId.get(own.list ?? `${name}.${single ? 'get' : 'list'}`)
  if (list === undefined) throw new Error(`members of a project cannot list ${name}`)
  const columns = wordsIn(own.columns)
  const unknown = columns.find((column) => !fieldsOf(rowIn(list)).has(column.replace('-', '')))
  if (unknown !== undefined) throw new Error(`${name} has no field ${unknown}`)
  const remove = byId.get(`${name}.delete`)
  const found = [...byId.values()].filter(({ id }) => isActOf(id, name))
  const one = [byId.get(`${name}.get`), byId.get(`${name}.update`), remove, ...found].find(Boolean)
  return {
    ...{ name, title, one: called, none, columns, about: about[name] ?? '', children: wordsIn(own.children) },
    ...{
      list: list.id,
      role: list.access.role,
      filters: filtersOf(list),
      first: wordsIn(own.first),
      quick: wordsIn(own.quick),
    },
    parent: list.params.find((param) => isOfRow(param)) ?? null,
    key: one?.params.find((param) => !list.params.includes(param) && isOfRow(param, name)) ?? null,
    get: single ? null : actOf(byId.get(`${name}.get`)),
    create: actOf(byId.get(own.create ?? `${name}.create`)),
    update: actOf(byId.get(`${name}.${single ? 'put' : 'update'}`)),
    ...(single && { single }),
    ...(named && { named }),
    ...(empty && { empty }),
    remove: remove?.method === 'DELETE' ? actOf(remove) : null,
    acts: [
      ...found
        .filter(({ method, params, files }) => method === 'POST' && params.length > 0 && files === null)
        .map(actOf),
      ...wordsIn(own.acts).map((id) => (isActOf(id, name) ? actOf : actWithPath)(byId.get(id))),
    ],
  }
}

/** Query parameters that filter no rows; `kind` is the page's own. */
const notFilters = new Set(wordsIn('limit cursor order after after_id before_id kind machine userId user_id user'))

/** The filters of a list, which are its other query parameters by their names in addresses: choices first, the tenant last. */
const filtersOf = ({ query }: Operation) =>
  Object.entries(query)
    .filter(([name]) => !notFilters.has(name))
    .map(
      ([
        param,
        {
          json: { enum: values, type },
        },
      ]) => {
        const choices = values ?? (type === 'boolean' ? [true, false] : [])
        return { name: param.replace(/^(tenant|key|agent)_id$/, '$1'), param, choices }
      },
    )
    .toSorted((a, b) => rankOf(a) - rankOf(b))

const rankOf = ({ name, choices }: { readonly name: string; readonly choices: readonly unknown[] }): number =>
  name === 'tenant' ? 2 : choices.length > 0 ? 0 : 1

/** The schema of the rows of a list, which some lists name otherwise than `data`; of a setting, its own. */
const rowIn = ({ answer }: Operation): JsonSchema => {
  const whole = answer.kind === 'json' ? answer.schema.json : {}
  const { data, ...others } = whole.properties ?? {}
  return (data ?? Object.values(others).find(({ type }) => type === 'array'))?.items ?? whole
}

const fieldsOf = ({ properties = {}, oneOf = [], anyOf = [] }: JsonSchema): ReadonlySet<string> =>
  new Set([...Object.keys(properties), ...[...oneOf, ...anyOf].flatMap((each) => [...fieldsOf(each)])])

/** Whether a parameter of a path names a row of a resource, and not only the project that the page shows. */
const isOfRow = (param: string, resource = ''): boolean => param !== 'project_id' || resource === 'projects'

const isActOf = (id: string, name: string): boolean => {
  const [resource, verb = ''] = id.split('.')
  return resource === name && !verbs.has(verb)
}

/** An act of another resource, whose further parameters of the path are fields of its form. */
const actWithPath = (operation: Operation | undefined) => {
  const act = actOf(operation)
  if (act === null) return null
  const [own = '', ...further] = act.params
  const fields = further.map((name) => ({ name, kind: 'text', required: true, path: true }))
  return { ...act, params: [own], fields: [...fields, ...act.fields] }
}

const actOf = (operation: Operation | undefined) => {
  if (operation === undefined) return null
  const { id, summary, params, body, unknownFields, access } = operation
  const fields = body === null ? [] : formFields(requestForm(body.json, unknownFields))
  return {
    ...{ id, summary, fields, params: params.filter((param) => isOfRow(param)), role: access.role },
    ...(needs[id] && { needs: needs[id] }),
  }
}
