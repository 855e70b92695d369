import { requestForm } from '#specs/dsl/ajv.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { inConsole } from '#specs/reach/console-paths.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { formFields } from './form-fields.ts'

/** A resource that the console has a page for. All else about it follows from the declarations. */
interface Shown {
  readonly name: string
  /** Name of its page, in the plural. */
  readonly title: string
  /** What it is, shown while there is none. */
  readonly about: string
  /** Columns of its list after the first, which is its name. */
  readonly columns: readonly string[]
  /** Resources of which each belongs to one of this, shown with it. */
  readonly children?: readonly string[]
  /** Operations of other resources that begin with one of this. */
  readonly acts?: readonly string[]
  /** A setting of the project: one row, which is read and replaced. */
  readonly single?: true
}

const shown: readonly Shown[] = [
  {
    ...{ name: 'agents', title: 'Agents', columns: ['description', 'visibility', 'updated_at'] },
    ...{ children: ['agent_versions', 'agent_keys'], acts: ['runs.create'] },
    about:
      'An agent is a model with its prompt, tools, knowledge and limits. Sessions and runs use its published version.',
  },
  { name: 'agent_versions', title: 'Versions', columns: ['status', 'published_at', 'created_at'], about: '' },
  { name: 'agent_keys', title: 'Keys of the agent', columns: ['key_type', 'prefix', 'created_at'], about: '' },
  {
    ...{ name: 'installations', title: 'Installations', columns: ['agent_id', 'tenant_id', 'version', 'status'] },
    about: 'An installation gives a version of an agent to a tenant, with its own changes and policy.',
  },
  {
    ...{ name: 'prompts', title: 'Prompts', columns: ['description', 'latest_version', 'updated_at'] },
    children: ['prompt_versions'],
    about: 'A prompt is a template with variables and versions, which agents and requests use by its name.',
  },
  { name: 'prompt_versions', title: 'Versions', columns: ['description', 'model', 'created_at'], about: '' },
  {
    ...{ name: 'mcp_servers', title: 'MCP servers', columns: ['url', 'status', 'updated_at'] },
    about: 'A remote server offers tools, which agents may call once they are reviewed.',
  },
  {
    ...{ name: 'connections', title: 'Connections of tools', columns: ['connector', 'status', 'owner_type'] },
    about: 'A connection gives tools access to a service, by a key or by the sign-in of its owner.',
  },
  {
    ...{ name: 'webhooks', title: 'Webhooks', columns: ['url', 'events', 'is_active'] },
    about: 'A webhook sends signed events to a server of yours: a run that ended, a call that waits for a decision.',
  },
  {
    ...{ name: 'tenants', title: 'Tenants', columns: ['external_id', 'status', 'created_at'] },
    ...{ children: ['tenant_users'], acts: ['tenant_users.put'] },
    about:
      'A tenant is a customer of yours. Its users, sessions, memories and costs are kept apart from those of others.',
  },
  { name: 'tenant_users', title: 'Users', columns: ['external_user_id', 'created_at'], about: '' },
  {
    ...{ name: 'end_users', title: 'End users', columns: ['external_id', 'created_at'] },
    about: 'An end user is a person whom knowledge bases are granted to, by your own id.',
  },
  {
    ...{ name: 'rate_plans', title: 'Rate plans' },
    columns: ['markup_percent', 'input_per_million_usd', 'output_per_million_usd', 'per_call_usd', 'is_default'],
    about: 'A rate plan has the prices at which tenants are charged for what they use.',
  },
  {
    ...{ name: 'knowledge_bases', title: 'Knowledge bases', columns: ['description', 'updated_at'] },
    children: ['knowledge_sources', 'knowledge_grants', 'knowledge_recall_sets'],
    about: 'A knowledge base holds documents that agents search and cite.',
  },
  { name: 'knowledge_sources', title: 'Sources', columns: ['type', 'status', 'updated_at'], about: '' },
  { name: 'knowledge_grants', title: 'Grants', columns: ['subject_type', 'subject_id'], about: '' },
  { name: 'knowledge_recall_sets', title: 'Recall sets', columns: ['created_at'], about: '' },
  {
    ...{ name: 'provider_connections', title: 'Provider keys', columns: ['provider', 'status', 'updated_at'] },
    acts: ['model_syncs.create'],
    about: 'A key of yours for a provider of models. It is stored sealed, and calls of its models go through it.',
  },
  {
    ...{ name: 'custom_providers', title: 'Custom servers', columns: ['base_url', 'api_format'] },
    about: 'A server of yours that speaks the format of a provider, such as vLLM or Ollama.',
  },
  {
    ...{ name: 'limits', title: 'Limits and budgets' },
    about: 'A limit bounds the requests, and a budget the cost, of the project, a tenant, an agent or a key.',
    columns: [
      'subject',
      'requests_per_minute',
      'budget_day_usd',
      'spent_day_usd',
      'budget_month_usd',
      'spent_month_usd',
    ],
  },
  {
    ...{ name: 'organizations', title: 'Organization', about: '' },
    columns: ['require_second_factor', 'require_oidc', 'updated_at'],
  },
  {
    ...{ name: 'guardrails', title: 'Guardrails', columns: ['description', 'is_default', 'updated_at'] },
    about: 'A guardrail checks what is sent to a model or comes from it, and blocks, redacts or flags it.',
  },
  {
    ...{ name: 'skills', title: 'All skills', columns: ['description', 'updated_at'], children: ['skill_versions'] },
    about: 'A skill is a folder of files that teaches agents a task.',
  },
  { name: 'skill_versions', title: 'Versions', columns: ['status', 'created_at'], about: '' },
  {
    ...{ name: 'skill_imports', title: 'Imports of skills', columns: ['status', 'created_at'] },
    about: 'An imported skill is scanned, and waits until an admin publishes it.',
  },
  {
    ...{ name: 'actions', title: 'Actions', columns: ['status', 'risk_level', 'created_at'] },
    about: 'An action is something that a program of yours wants to do, and that a person approves first.',
  },
  {
    ...{ name: 'batches', title: 'Batches', columns: ['endpoint', 'status', 'created_at'] },
    about: 'A batch is a file of requests that are answered within a day, at half of the rate limits.',
  },
  {
    ...{ name: 'message_batches', title: 'Batches of messages', columns: ['processing_status', 'created_at'] },
    about: "A batch of messages is Anthropic's form of many requests that are answered within a day.",
  },
  {
    name: 'vector_stores',
    title: 'Vector stores',
    columns: ['status', 'created_at'],
    about: "A vector store is OpenAI's name of a knowledge base.",
    ...{ children: ['vector_store_files'], acts: ['vector_store_file_batches.create'] },
  },
  { name: 'vector_store_files', title: 'Files', columns: ['status', 'created_at'], about: '' },
  { name: 'request_log_settings', title: 'Request log', columns: [], about: '', single: true },
  { name: 'retention_settings', title: 'Retention', columns: [], about: '', single: true },
  {
    ...{ name: 'project_keys', title: 'Secret keys' },
    about: 'A secret key lets your servers use the project.',
    columns: ['prefix', 'last4', 'scopes', 'last_used_at', 'expires_at', 'created_by'],
  },
  {
    ...{ name: 'projects', title: 'Projects' },
    about: 'A project has its own keys, tenants, agents and data.',
    columns: ['status', 'allowed_origins', 'created_at'],
  },
  { name: 'project_members', title: 'Members', columns: ['email', 'role', 'has_second_factor'], about: '' },
  {
    ...{ name: 'oidc_connections', title: 'Sign-in providers', columns: ['issuer', 'redirect_uri', 'is_active'] },
    about: 'Members sign in by the accounts of your company once its provider is named here.',
  },
]

const head = `/** @typedef {import('./types.js').Resource} Resource */

/**
 * Resources that the console lists, creates and changes, with the fields of their forms. Made from the declarations by
 * \`npm run generate\`.
 *
 * @type {readonly Resource[]}
 */
export const resources = `

/** Fields of `responses.create` that the playground edits in a form, and whether they are shown at once. */
const inPlayground = {
  ...{ instructions: true, temperature: true, max_output_tokens: true, tools: true },
  ...{ top_p: false, tool_choice: false, text: false },
}

/** Operations that are not a button: those of lists and forms, and those whose answer is another kind of thing. */
const verbs = new Set(['list', 'get', 'create', 'put', 'update', 'export'])

/** `console/resources/resources.js`: what the console's pages of resources show and can do. */
export const consoleResources = (operations: readonly Operation[]): GeneratedFile => {
  const byId = new Map(
    operations
      .map((each) => inConsole(each) ?? each)
      .filter(isForMembers)
      .map((each) => [each.id, each]),
  )
  const lines = shown.map((each) => `  ${JSON.stringify(resourceOf(each, byId))},\n`)
  const { fields = [] } = actOf(byId.get('responses.create')) ?? {}
  const request = Object.entries(inPlayground).flatMap(([name, atOnce]) =>
    fields
      .filter((each) => each.name === name)
      .map(({ first: _, ...field }) => ({ ...field, ...(atOnce && { first: true }) })),
  )
  const bench = `/** Fields of a request that the playground edits. @type {readonly import('./types.js').Field[]} */\nexport const requestFields = ${JSON.stringify(request)}\n`
  const memory = `/** The form for a memory. @type {import('./types.js').Act} */\nexport const memoryForm = ${JSON.stringify(actOf(byId.get('memory.write')))}\n`
  return { path: 'console/resources/resources.js', text: `${head}[\n${lines.join('')}]\n\n${bench}\n${memory}` }
}

const isForMembers = ({ access }: Operation): boolean => access.kinds.includes('dashboard')

const resourceOf = (
  { name, title, about, columns, children = [], acts: others = [], single }: Shown,
  byId: ReadonlyMap<string, Operation>,
) => {
  const list = byId.get(`${name}.${single ? 'get' : 'list'}`)
  if (list === undefined) throw new Error(`members of a project cannot list ${name}`)
  const unknown = columns.find((column) => !fieldsOf(rowIn(list)).has(column))
  if (unknown !== undefined) throw new Error(`${name} has no field ${unknown}`)
  const one = [byId.get(`${name}.update`), byId.get(`${name}.delete`)].find(Boolean)
  const acts = [...byId.values()].filter(({ id }) => isActOf(id, name))
  const named = others.flatMap((id) => byId.get(id) ?? [])
  return {
    ...{
      name,
      title,
      about,
      columns,
      children,
      list: list.id,
      parent: list.params.filter((param) => isOfRow(param))[0] ?? null,
    },
    key: (one ?? acts[0])?.params.find((param) => !list.params.includes(param) && isOfRow(param, name)) ?? null,
    create: actOf(byId.get(`${name}.create`)),
    update: actOf(byId.get(`${name}.${single ? 'put' : 'update'}`)),
    ...(single && { single }),
    ...(one?.access.role === 'owner' && { owned: true }),
    remove: byId.get(`${name}.delete`)?.method === 'DELETE' ? `${name}.delete` : null,
    acts: [
      ...acts
        .filter(({ method, params, files }) => method === 'POST' && params.length > 0 && files === null)
        .map(actOf),
      ...named.map(actWithPath),
    ],
  }
}

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

/** An act whose further parameters of the path are fields of its form. */
const actWithPath = (operation: Operation) => {
  const act = actOf(operation)
  const [, ...further] = operation.params.filter((param) => isOfRow(param))
  const fields = further.map((name) => ({ name, kind: 'text', required: true, path: true }))
  return act && { ...act, params: act.params.slice(0, 1), fields: [...fields, ...act.fields] }
}

const actOf = (operation: Operation | undefined) => {
  if (operation === undefined) return null
  const { id, summary, params, body, unknownFields, access } = operation
  const fields = body === null ? [] : formFields(requestForm(body.json, unknownFields))
  return {
    id,
    summary,
    params: params.filter((param) => isOfRow(param)),
    fields,
    ...(access.role === 'owner' && { owned: true }),
  }
}
