import type { AgentVersionContext } from '#machines/agent-version/agent-version.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import type { RunContext, RunInput } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { maxDepth } from '#machines/run/run-steps.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { isNotFound } from '../call/not-found.ts'
import { requireReach, workLimitsOf } from '../call/reach.ts'
import { readerOf } from '../call/speaker.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, reasonOf } from '../records/audit-note.ts'
import { contextOf } from '../runtime/index.ts'
import { type Host, newIdFor, newIdForBeside, type Resident } from '../runtime/internal.ts'
import type { ReadLog } from '../sessions/conversations.ts'
import { causeOf } from '../sessions/session-use-cases.ts'
import { checkMemory } from '../sessions/turns/checked-memory.ts'
import { requireConfigModels } from '../sessions/turns/limited-models.ts'
import type { AgentReference } from '../sessions/turns/resolved-config.ts'
import { listRuns } from './list-runs.ts'
import { inputFrom, planRun, withGuardrails } from './plan-run.ts'
import { type ChildParts, parentOf } from './prepare-child.ts'
import { replayRun } from './replay-run.ts'
import { runEventView, runView } from './run-views.ts'

export interface RunParts extends ChildParts, Pick<Services, 'host' | 'now' | 'records'> {
  readonly readLog: ReadLog
  /**
   * @throws {ServiceError} `not_found` for an unknown tenant; `tenant_suspended` or `tenant_deleting` for an inactive
   * one.
   */
  readonly checkTenant: (project: string, tenant: string) => Promise<void>
}

type CreateCall = Parameters<UseCases['runs.create']>[0]
type DelegateCall = Parameters<UseCases['runs.delegate']>[0]
type EventsCall = Parameters<UseCases['runs.events']>[0]
type Caller = Pick<Call<unknown, unknown, unknown>, 'scope' | 'principal'>

/** Use-cases of background runs: create, read, cancel, delegate, replay, follow (specs/decisions/0071-runs.md). */
export const runUseCases = (parts: RunParts): UseCasesOf<'runs'> => ({
  'runs.create': (call) => createRun(parts, call),
  'runs.list': (call) => listRuns(parts, call),
  'runs.get': async (call) => runView(parts.host, await findRun(parts.host, call, call.params.run_id)),
  'runs.cancel': async (call) => {
    const { host } = parts
    const run = await findRun(host, call, call.params.run_id)
    const event = { type: 'cancel', by: actorOf(call), ...reasonOf(call.body) }
    await host.deliverTo(run, { event, cause: causeOf(call.idempotency) })
    return runView(host, await findRun(host, call, run.id))
  },
  'runs.delegate': (call) => delegate(parts, call),
  'runs.replay': (call) => replayRun(parts, call),
  'runs.events': async (call) => {
    const { host } = parts
    const run = await findRun(host, call, call.params.run_id)
    if (!call.accept.includes('text/event-stream')) return { json: await eventPage(host, run, call) }
    const stream = host.feed.follow(run.id, call.after ?? 0, { at: 'idle' })
    return { events: { stream, tenant: run.owner.tenant, replayed: false } }
  },
})

/**
 * Returns a run that the caller may access. An agent's key is restricted to runs of that agent, and a public key to
 * runs without a tenant.
 *
 * @throws {ServiceError} `not_found`
 */
export const findRun = async (host: Host, { scope, principal }: Caller, id: string): Promise<Resident> => {
  const run = await host.find(scope, runDefinition, id)
  const { agent_id: agentId } = contextOf(runDefinition, run.state.snapshot)
  await checkAgent(principal, { agentId, tenant: run.owner.tenant }, 'run_id')
  return run
}

const checkAgent = async (
  principal: Caller['principal'],
  { agentId, tenant }: { readonly agentId: string; readonly tenant: string | null },
  param: string,
): Promise<void> => {
  if (principal.kind === 'agent_key' && principal.agentId !== agentId) throw new ServiceError('not_found', { param })
  await requireReach(principal, tenant, param)
}

const createRun = async (parts: RunParts, call: CreateCall): Promise<ResultOf<'runs.create'>> => {
  const { host } = parts
  const { scope, params, body } = call
  const namedTenant = scope.tenant ?? body.tenant_id ?? null
  await checkAgent(call.principal, { agentId: params.agent_id, tenant: namedTenant }, 'agent_id')
  if (namedTenant !== null) await parts.checkTenant(scope.project, namedTenant)
  const resolved = await parts.resolveAgent({
    project: scope.project,
    agentId: params.agent_id,
    installationId: body.installation_id ?? null,
    version: null,
    tenant: namedTenant,
  })
  const tenant = resolved.tenant_id ?? namedTenant
  await checkAgent(call.principal, { agentId: params.agent_id, tenant }, 'installation_id')
  if (tenant !== null && tenant !== namedTenant) await parts.checkTenant(scope.project, tenant)
  const limits = workLimitsOf(call.principal)
  requireConfigModels(limits.models, resolved.config, { byDefault: parts.defaultModel() })
  const runId = newIdFor(call, 'run', host.newActorId)
  const user = scope.user ?? body.external_user_id ?? null
  const { input, memory } = body
  checkMemory({ memory, user, of: 'run' })
  const createdBy = actorOf(call)
  const request = {
    runId,
    project: scope.project,
    tenant,
    user,
    resolved,
    input,
    memory,
    ...limits,
    expiresIn: body.expires_in,
    createdBy,
  }
  const owner = { project: scope.project, tenant, user, createdAt: parts.now() }
  await host.create({
    kind: runDefinition,
    id: runId,
    owner,
    input: await planRun(parts, request),
    cause: causeOf(call.idempotency),
  })
  return runView(host, await findRun(host, call, runId))
}

const delegate = async (parts: RunParts, call: DelegateCall): Promise<ResultOf<'runs.delegate'>> => {
  const { host } = parts
  const parent = await findRun(host, call, call.params.run_id)
  // In the shard of its parent, also with an Idempotency-Key, because a reader of the parent looks for the child there.
  const childId = newIdForBeside(call, 'run', { actor: parent.id, shards: host.ownership.space })
  const child = await planChild(parts, call, { parent, runId: childId })
  await host.deliverTo(parent, { event: { type: 'delegate', child }, cause: causeOf(call.idempotency) })
  await host.delivered(parent.id)
  return runView(host, await host.find(call.scope, runDefinition, childId))
}

const planChild = async (
  parts: RunParts,
  call: DelegateCall,
  { parent, runId }: { readonly parent: Resident; readonly runId: string },
): Promise<RunInput> => {
  const { body } = call
  const run = contextOf(runDefinition, parent.state.snapshot)
  const { project, tenant, user } = parent.owner
  if (run.depth >= maxDepth) throw new ServiceError('delegation_too_deep')
  const version = await findVersion(parts.host, projectScope(project), body.agent_version_id)
  checkAllowed(run, version)
  const reference: AgentReference = {
    project,
    agentId: version.agent_id,
    installationId: body.installation_id ?? null,
    version: version.version_id,
    tenant,
  }
  const resolved = await parts.resolveAgent(reference)
  const limits = withGuardrails(workLimitsOf(call.principal), await parts.configs.read(project, run.config))
  requireConfigModels(limits.models, resolved.config, { byDefault: parts.defaultModel() })
  const input = inputFrom(body.input)
  const createdBy = actorOf(call)
  const on = { runId, project, tenant, user }
  return planRun(parts, { ...on, resolved, input, ...limits, parent: parentOf(run, runId), createdBy })
}

type Version = AgentVersionContext

const findVersion = async (host: Host, scope: DelegateCall['scope'], id: string): Promise<Version> => {
  const found = await host.find(scope, agentVersionDefinition, id).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
    const message = 'There is no such version.'
    throw new ServiceError('not_found', { param: 'agent_version_id', message, cause: error })
  })
  return contextOf(agentVersionDefinition, found.state.snapshot)
}

/** @throws {ServiceError} `subagent_not_allowed` for an agent or version that is not among the parent's subagents. */
const checkAllowed = ({ tools }: RunContext, { agent_id, version, version_id }: Version): void => {
  const named = Object.values(tools).some(({ subagent }) => {
    if (subagent?.agent_id !== agent_id) return false
    return subagent.version === null || subagent.version === version || subagent.version === version_id
  })
  if (!named) throw new ServiceError('subagent_not_allowed', { param: 'agent_version_id' })
}

const eventPage = async (
  host: Host,
  run: Resident,
  { query: { limit, cursor }, after: from, principal }: EventsCall,
): Promise<ResultOf<'runs.events'>> => {
  const after = cursor === undefined ? (from ?? 0) : sequenceOf(cursor)
  const events = await host.readPage(run, after, limit)
  const last = events.at(-1)
  return {
    data: events.map((event) => runEventView(run.id, event, readerOf(principal))),
    // a page of long events has fewer than `limit`, so its length does not show whether it is the last
    next_cursor: last !== undefined && last.sequence < run.state.lastSequence ? cursorOf(last.sequence) : null,
  }
}

const cursorOf = (sequence: number): string => Buffer.from(`after ${sequence}`).toString('base64url')

const sequenceOf = (cursor: string): number => {
  const sequence = Number(/^after (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1])
  if (Number.isInteger(sequence) && cursorOf(sequence) === cursor) return sequence
  throw new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this log.' })
}
