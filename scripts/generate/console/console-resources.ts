import { requestForm } from '#specs/dsl/ajv.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { formFields } from './form-fields.ts'

/** A resource that the console has a page for. All else about it follows from the declarations. */
interface Shown {
  readonly name: string
  /** Name of its page, in the plural. */
  readonly title: string
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
  },
  { name: 'agent_versions', title: 'Versions', columns: ['status', 'notes', 'created_at'] },
  { name: 'agent_keys', title: 'Keys of the agent', columns: ['type', 'prefix', 'created_at'] },
  { name: 'installations', title: 'Installations', columns: ['agent_id', 'tenant_id', 'version', 'status'] },
  {
    ...{ name: 'prompts', title: 'Prompts', columns: ['description', 'latest_version', 'updated_at'] },
    children: ['prompt_versions'],
  },
  { name: 'prompt_versions', title: 'Versions', columns: ['description', 'model', 'created_at'] },
  { name: 'mcp_servers', title: 'MCP servers', columns: ['url', 'status', 'updated_at'] },
  { name: 'webhooks', title: 'Webhooks', columns: ['url', 'events', 'is_active'] },
  { name: 'tenants', title: 'Tenants', columns: ['external_id', 'status', 'created_at'], acts: ['tenant_users.put'] },
  {
    ...{ name: 'knowledge_bases', title: 'Knowledge bases', columns: ['description', 'updated_at'] },
    children: ['knowledge_sources'],
  },
  { name: 'knowledge_sources', title: 'Sources', columns: ['type', 'status', 'updated_at'] },
  {
    ...{ name: 'provider_connections', title: 'Provider keys', columns: ['provider', 'status', 'updated_at'] },
    acts: ['model_syncs.create'],
  },
  { name: 'custom_providers', title: 'Custom servers', columns: ['baseUrl', 'format'] },
  {
    ...{ name: 'limits', title: 'Limits and budgets' },
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
    ...{ name: 'organizations', title: 'Organization' },
    columns: ['require_second_factor', 'require_oidc', 'updated_at'],
  },
  { name: 'guardrails', title: 'Guardrails', columns: ['description', 'mode', 'updated_at'] },
  { name: 'skills', title: 'All skills', columns: ['description', 'updated_at'], children: ['skill_versions'] },
  { name: 'skill_versions', title: 'Versions', columns: ['status', 'created_at'] },
  { name: 'skill_imports', title: 'Imports of skills', columns: ['status', 'created_at'] },
  { name: 'actions', title: 'Actions', columns: ['status', 'risk_level', 'created_at'] },
  { name: 'batches', title: 'Batches', columns: ['endpoint', 'status', 'created_at'] },
  { name: 'message_batches', title: 'Batches of messages', columns: ['processing_status', 'created_at'] },
  {
    name: 'vector_stores',
    title: 'Vector stores',
    columns: ['status', 'created_at'],
    ...{ children: ['vector_store_files'], acts: ['vector_store_file_batches.create'] },
  },
  { name: 'vector_store_files', title: 'Files', columns: ['status', 'created_at'] },
  { name: 'request_log_settings', title: 'Request log', columns: [], single: true },
  { name: 'retention_settings', title: 'Retention', columns: [], single: true },
  {
    ...{ name: 'project_keys', title: 'Secret keys' },
    columns: ['prefix', 'last4', 'scopes', 'last_used_at', 'expires_at', 'created_by'],
  },
  {
    ...{ name: 'projects', title: 'Projects' },
    columns: ['status', 'allowed_origins', 'created_at'],
  },
  { name: 'project_members', title: 'Members', columns: ['email', 'role', 'has_second_factor'] },
  { name: 'oidc_connections', title: 'Sign-in providers', columns: ['issuer', 'redirect_uri', 'is_active'] },
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
  const byId = new Map(operations.filter(isForMembers).map((each) => [each.id, each]))
  const lines = shown.map((each) => `  ${JSON.stringify(resourceOf(each, byId))},\n`)
  const { fields = [] } = actOf(byId.get('responses.create')) ?? {}
  const request = Object.entries(inPlayground).flatMap(([name, atOnce]) =>
    fields
      .filter((each) => each.name === name)
      .map(({ first: _, ...field }) => ({ ...field, ...(atOnce && { first: true }) })),
  )
  const bench = `/** Fields of a request that the playground edits. @type {readonly import('./types.js').Field[]} */\nexport const requestFields = ${JSON.stringify(request)}\n`
  return { path: 'console/resources/resources.js', text: `${head}[\n${lines.join('')}]\n\n${bench}` }
}

const isForMembers = ({ access }: Operation): boolean => access.kinds.includes('dashboard')

const resourceOf = (
  { name, title, columns, children = [], acts: others = [], single }: Shown,
  byId: ReadonlyMap<string, Operation>,
) => {
  const list = byId.get(`${name}.${single ? 'get' : 'list'}`)
  if (list === undefined) throw new Error(`members of a project cannot list ${name}`)
  const one = [byId.get(`${name}.update`), byId.get(`${name}.delete`)].find(Boolean)
  const acts = [...byId.values()].filter(({ id }) => isActOf(id, name))
  const named = others.flatMap((id) => byId.get(id) ?? [])
  return {
    ...{
      name,
      title,
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
  const { id, summary, params, body, unknownFields } = operation
  const fields = body === null ? [] : formFields(requestForm(body.json, unknownFields))
  return { id, summary, params: params.filter((param) => isOfRow(param)), fields }
}
