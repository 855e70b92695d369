import type {
  AgentResource,
  Offer,
  ServerTool,
  ServerToolCall,
  ToolOutcome,
} from '#actors/capability/agent-resources.ts'
import type { ConnectionAccess, ConnectionUse } from '#actors/capability/connection-service.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/index.ts'
import type { Json } from '#storage/index.ts'
import type { ConnectionAccesses } from '../use/connection-access.ts'
import type { ConnectorTarget, ConnectorTargets } from '../use/connector-targets.ts'
import { ArgumentsRefused, type BuiltRequest, buildRequest, sendRequest } from './call-operation.ts'
import { type ConnectorReference, connectionOf, referenceOf } from './connector-reference.ts'
import type { HttpOperation } from './http-operation.ts'
import { storedOperation } from './imported-tools.ts'

export interface AgentConnectorParts {
  readonly accesses: ConnectionAccesses
  readonly targets: ConnectorTargets
  readonly guard: Pick<SsrfGuard, 'request'>
}

const maxToolName = 64

/**
 * Connectors in the turns and runs of agents. Each tool makes one request to a service, with the connection of the
 * owner of the turn or run. When there is no connection yet, the call waits for one.
 */
export const agentConnectors = (parts: AgentConnectorParts): AgentResource => ({
  name: 'connectors',
  fields: ['connectors'],
  missing: async ({ project }, declared) => {
    const reference = referenceOf(declared)
    if (reference === null)
      return 'A connector must be the id of a connector or connection, or an object with connector or connection_id.'
    return parts.targets.missing(project, reference)
  },
  offer: async ({ project }, declared) => {
    const references = declared.map(referenceOf).filter((each) => each !== null)
    const targets = await Promise.all(references.map((each) => parts.targets.of(project, each)))
    const tools = references.flatMap((reference, at) => toolsOf(reference, targets[at] ?? null))
    return { instructions: [], tools: distinct(tools) } satisfies Offer
  },
  run: (call) => called(parts, call),
})

const toolsOf = (reference: ConnectorReference, target: ConnectorTarget | null): readonly ServerTool[] =>
  (target?.operations ?? [])
    .filter(({ name }) => reference.tools === null || reference.tools.includes(name))
    .map((operation) => ({
      type: 'server',
      name: operation.name,
      description: operation.description,
      parameters: operation.parameters,
      resource: 'connectors',
      settings: { named: reference.named, owner: reference.owner, operation },
      effect: operation.method === 'GET' ? 'idempotent' : 'at_most_once',
      ...(needsApproval(reference, operation) && { needsApproval: true }),
      risk_level: reference.approval === 'never' ? 'low' : operation.risk_level,
    }))

const needsApproval = ({ approval }: ConnectorReference, { risk_level }: HttpOperation): boolean =>
  approval === 'always' || (approval === 'risky' && (risk_level === 'high' || risk_level === 'critical'))

/** Returns the tools with distinct names: of operations with the same name, the later ones are numbered. */
const distinct = (tools: readonly ServerTool[]): readonly ServerTool[] => {
  const names = new Set<string>()
  return tools.map((tool) => {
    let name = tool.name
    for (let n = 2; names.has(name); n++) name = `${tool.name.slice(0, maxToolName - String(n).length - 1)}_${n}`
    names.add(name)
    return name === tool.name ? tool : { ...tool, name }
  })
}

const failed = (code: string, message: string): ToolOutcome => ({ ok: false, code, message })

const called = async (parts: AgentConnectorParts, call: ServerToolCall): Promise<ToolOutcome> => {
  const { named, owner, operation } = call.tool.settings
  const reference = referenceOf({ ...(isObject(named) ? named : {}), ...(typeof owner === 'string' && { owner }) })
  const stored = storedOperation(operation)
  if (reference === null || stored === null) return failed('unknown_tool', 'The tool no longer exists.')
  const { project, tenant, user } = call
  const use: ConnectionUse = { project, tenant, user, connection: connectionOf(reference, call) }
  const access = await parts.accesses.access(use)
  if (access.kind !== 'ready') return withoutAccess(access)
  const base = await parts.targets.baseUrl(project, access)
  if (base === null) return failed('connection_incomplete', 'The connection has no base_url.')
  const request = built(stored, base.url, call.arguments)
  if ('ok' in request) return request
  const keyed = {
    ...request,
    headers: {
      ...base.headers,
      ...request.headers,
      ...(request.method !== 'GET' && { 'idempotency-key': call.idempotencyKey }),
    },
  }
  return answerOf(parts, { call, use, access, request: keyed })
}

const built = (operation: HttpOperation, base: string, args: Json): BuiltRequest | ToolOutcome => {
  try {
    return buildRequest(operation, base, args)
  } catch (error) {
    if (!(error instanceof ArgumentsRefused)) throw error
    return failed('invalid_arguments', error.message)
  }
}

interface Calling {
  readonly call: ServerToolCall
  readonly use: ConnectionUse
  readonly access: Extract<ConnectionAccess, { readonly kind: 'ready' }>
  readonly request: BuiltRequest
}

/**
 * Sends a request. When the service rejects the token with 401, the token is renewed and the request sent once more,
 * which is safe because a rejected request had no effect.
 */
const answerOf = async (parts: AgentConnectorParts, { call, use, access, request }: Calling): Promise<ToolOutcome> => {
  const send = (secrets: Readonly<Record<string, string>>) =>
    sendRequest(parts.guard, request, { secrets, signal: call.signal })
  let answer = await send(access.headers)
  if (answer.kind === 'answered' && answer.status === 401) {
    const again = await parts.accesses.refused(use, access)
    if (again.kind !== 'ready') return withoutAccess(again)
    answer = await send(again.headers)
  }
  if (answer.kind === 'failed') return failed(answer.code, answer.message)
  if (answer.status < 200 || answer.status > 299)
    return failed('service_error', `The service responded with status ${answer.status}: ${answer.text.slice(0, 500)}`)
  return { ok: true, output: answer.text }
}

const withoutAccess = (access: Exclude<ConnectionAccess, { readonly kind: 'ready' }>): ToolOutcome =>
  access.kind === 'refused'
    ? failed(access.code, access.message)
    : { ...failedFor(access.message), connection: access.required }

const failedFor = (message: string) => ({ ok: false, code: 'connection_required', message }) as const
