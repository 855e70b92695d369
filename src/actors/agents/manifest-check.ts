import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ModelRow } from '#gateway/routing/model-rows.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { statusOf } from '#machines/index.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import { type Json, type JsonObject, projectScope, type Scope } from '#storage/index.ts'
import type { AgentPlace, AgentResource } from '../capability/agent-resources.ts'
import type { Table } from '../records/table.ts'
import type { Subagent } from '../sessions/turns/resolved-config.ts'
import { type ToolDeclaration, toolName } from '../sessions/turns/turn-config.ts'
import type { AgentVersions } from './agent-versions.ts'
import type { Catalogue } from './catalogue.ts'
import { subagentsOf } from './effective-config.ts'
import type { AgentData } from './kinds.ts'
import type { Manifest } from './schema.ts'

/** A problem of a manifest. An `error` prevents the version from being tested, submitted, approved or published. */
export type Finding = {
  readonly severity: 'error' | 'warning'
  readonly code: string
  /** Path of the field in the manifest or the requirements. */
  readonly param: string
  readonly message: string
}

/** Dependencies of the checks of a manifest. A check only reads. */
export interface ManifestParts {
  /** @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active` */
  readonly checkModel: (model: string, project: string) => unknown
  /** @throws {SsrfRefused} for a URL that no request of this server may reach. */
  readonly checkUrl: (url: string) => unknown
  /** Lists the models of a project. */
  readonly models: (project: string) => Promise<readonly ModelRow[]>
  readonly agents: Pick<Table<AgentData>, 'get'>
  readonly catalogue: Pick<Catalogue, 'newest'>
  readonly versions: Pick<AgentVersions, 'find'>
  /** Resources that capabilities offer to agents. */
  readonly resources: () => readonly AgentResource[]
}

/** The parts of a version that are checked. */
export interface Examined {
  readonly agentId: string
  readonly config: Manifest
  readonly requirements: JsonObject
}

/** Returns all findings about a version, in the order of its fields (`agent_versions.validate`). */
export const examine = async (
  parts: ManifestParts,
  scope: Scope,
  { agentId, config, requirements }: Examined,
): Promise<readonly Finding[]> => [
  ...(await modelFindings(parts, scope, config.model)),
  ...(config.system_prompt || config.instructions ? [] : [noPrompt]),
  ...toolFindings(parts, config.tools ?? []),
  ...(await subagentFindings(parts, { scope, agentId }, subagentsOf(config))),
  ...(await capabilityFindings(parts, scope, { agentId, fields: config, where: 'config' })),
  ...(await capabilityFindings(parts, scope, { agentId, fields: requirements, where: 'requirements' })),
]

/** Most findings that the error message names; `agent_versions.validate` lists all of them. */
const maxNamed = 50

/**
 * Accepts findings that are only warnings. @throws {ServiceError} `prerequisites_missing` that names each error with
 * its field.
 */
export const requireAll = (findings: readonly Finding[]): void => {
  const missing = findings.filter(({ severity }) => severity === 'error')
  const [first] = missing
  if (first === undefined) return
  const named = missing.slice(0, maxNamed).map(({ param, message }) => `${param}: ${message}`)
  const more = missing.length > maxNamed ? [`And ${missing.length - maxNamed} more.`] : []
  throw new ServiceError('prerequisites_missing', { param: first.param, message: [...named, ...more].join(' ') })
}

const noPrompt: Finding = {
  severity: 'warning',
  code: 'no_system_prompt',
  param: 'config.system_prompt',
  message: 'The agent has neither a system prompt nor instructions.',
}

const notServed: ReadonlySet<ErrorCode> = new Set(['model_not_found', 'provider_not_configured', 'provider_not_active'])

const modelFindings = async (
  { checkModel, models }: ManifestParts,
  { project }: Scope,
  model: string,
): Promise<readonly Finding[]> => {
  const at = { param: 'config.model' } as const
  try {
    await checkModel(model, project)
  } catch (error) {
    if (!(error instanceof ServiceError) || !notServed.has(error.code)) throw error
    return [{ severity: 'error', code: error.code, ...at, message: `${model}: ${error.message}` }]
  }
  const row = (await models(project)).find(({ id }) => id === model)
  if (row?.type === 'embedding') {
    return [{ severity: 'error', code: 'not_a_chat_model', ...at, message: `${model} does not generate text.` }]
  }
  if (row?.status !== 'deprecated') return []
  return [{ severity: 'warning', code: 'model_deprecated', ...at, message: `${model} is deprecated by its provider.` }]
}

const toolFindings = ({ checkUrl }: ManifestParts, tools: readonly ToolDeclaration[]): readonly Finding[] => {
  const names = tools.map(toolName)
  return tools.flatMap((tool, index) => [
    ...(names.indexOf(toolName(tool)) < index ? [twice(toolName(tool), index)] : []),
    ...parameterFindings(tool, index),
    ...urlFindings(checkUrl, tool, index),
  ])
}

/** A warning, since an operator may allow the host until a model calls the tool, and the others work. */
const urlFindings = (checkUrl: ManifestParts['checkUrl'], tool: ToolDeclaration, index: number): readonly Finding[] => {
  if (tool.type !== 'http') return []
  try {
    checkUrl(tool.url)
    return []
  } catch (error) {
    if (!(error instanceof SsrfRefused)) throw error
    const message = `Calls of ${toolName(tool)} will be refused: ${error.message}.`
    return [{ severity: 'warning', code: 'url_refused', param: `config.tools[${index}].url`, message }]
  }
}

const twice = (name: string, index: number): Finding => ({
  severity: 'error',
  code: 'duplicate_tool',
  param: `config.tools[${index}]`,
  message: `Two tools are named ${name}.`,
})

const meta = new Ajv2020({ strict: false, logger: false })

/** Validates the schema against the meta-schema only, because schemas of callers must not be compiled. */
const parameterFindings = (tool: ToolDeclaration, index: number): readonly Finding[] => {
  if (tool.type === 'web_search_preview') return []
  const [parameters, path] =
    tool.type === 'function' ? [tool.function.parameters, 'function.parameters'] : [tool.parameters, 'parameters']
  if (parameters === undefined) return []
  const at = { severity: 'error', code: 'bad_parameters', param: `config.tools[${index}].${path}` } as const
  if (parameters.type !== undefined && parameters.type !== 'object') {
    return [{ ...at, message: 'The parameters of a tool must be an object, but its schema has another type.' }]
  }
  const { $schema: _any, ...schema } = parameters
  if (meta.validateSchema(schema) === true) return []
  const [error] = meta.errors ?? []
  return [{ ...at, message: `Not a JSON Schema: ${error?.instancePath ?? ''} ${error?.message ?? ''}`.trim() }]
}

const subagentFindings = async (
  parts: ManifestParts,
  { scope, agentId }: { readonly scope: Scope; readonly agentId: string },
  subagents: readonly Subagent[],
): Promise<readonly Finding[]> => {
  const found = subagents.map((subagent, index) => subagentFinding(parts, { scope, agentId, index }, subagent))
  return (await Promise.all(found)).flat()
}

const subagentFinding = async (
  { agents, catalogue, versions }: ManifestParts,
  { scope, agentId, index }: { readonly scope: Scope; readonly agentId: string; readonly index: number },
  { agent_id, version }: Subagent,
): Promise<readonly Finding[]> => {
  const at = { severity: 'error', param: `config.subagents[${index}]` } as const
  if (agent_id === agentId) {
    return [{ ...at, code: 'subagent_is_itself', message: 'An agent cannot delegate to itself.' }]
  }
  if ((await agents.get(projectScope(scope.project), agent_id)) === null) {
    return [{ ...at, code: 'subagent_not_found', message: `There is no agent ${agent_id}.` }]
  }
  const runs =
    version === null
      ? (await catalogue.newest(scope, agent_id)) !== null
      : await versions
          .find(scope, agent_id, version)
          .then(({ state }) => statusOf(agentVersionDefinition, state.snapshot) === 'published', falseWhenNotFound)
  if (runs) return []
  const what = version === null ? 'no published version' : `no published version ${version}`
  return [{ ...at, severity: 'warning', code: 'subagent_not_published', message: `${agent_id} has ${what} yet.` }]
}

const capabilities = {
  connectors: 'connector',
  mcp_servers: 'remote tool server',
  remote_agents: 'remote agent',
  skills: 'skill',
  knowledge: 'knowledge base',
  knowledge_bases: 'knowledge base',
} as const

const falseWhenNotFound = (error: unknown): false => {
  if (error instanceof ServiceError) return false
  throw error
}

/** The fields of a config or of requirements that may name resources. */
interface Declaring {
  readonly agentId: string
  readonly fields: JsonObject
  readonly where: string
}

/** Returns a finding for each declared resource that this server does not have. */
const capabilityFindings = async (
  { resources }: ManifestParts,
  { project, tenant }: Scope,
  { agentId, fields, where }: Declaring,
): Promise<readonly Finding[]> => {
  const place: AgentPlace = { project, tenant, agentId, installationId: null }
  const findings: Finding[] = []
  for (const [field, word] of Object.entries(capabilities)) {
    const declared: Json | undefined = fields[field]
    const resource = resources().find((each) => each.fields.includes(field))
    for (const [index, each] of (Array.isArray(declared) ? declared : []).entries()) {
      const message =
        resource === undefined ? `There is no ${word} ${nameOf(each)}.` : await resource.missing(place, each)
      const at = { severity: 'error', code: 'capability_not_available', param: `${where}.${field}[${index}]` } as const
      if (message !== null) findings.push({ ...at, message })
    }
  }
  return findings
}

const nameOf = (declared: Json): string => {
  if (typeof declared === 'string') return declared
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) return String(declared)
  const name = Object.values(declared).find((value) => typeof value === 'string')
  return typeof name === 'string' ? name : 'of this description'
}
