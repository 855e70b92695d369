import type { RunContext } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import type { ResultOf } from '#specs/index.ts'
import { isNotFound } from '../call/not-found.ts'
import { workLimitsOf } from '../call/reach.ts'
import type { UseCases } from '../call/use-cases.ts'
import { actorOf, reasonOf } from '../records/audit-note.ts'
import { contextOf, type Owner } from '../runtime/index.ts'
import { newIdFor } from '../runtime/internal.ts'
import { causeOf } from '../sessions/session-use-cases.ts'
import { requireConfigModels } from '../sessions/turns/limited-models.ts'
import type { ResolvedConfig } from '../sessions/turns/resolved-config.ts'
import { inputFrom, planRun, withGuardrails } from './plan-run.ts'
import { historyUpTo } from './run-history.ts'
import { findRun, type RunParts } from './run-use-cases.ts'
import { runView } from './run-views.ts'
import { runInputOf } from './schema.ts'

type ReplayCall = Parameters<UseCases['runs.replay']>[0]

const msPerSecond = 1000

/** Creates a run that repeats another one (specs/decisions/0001-sessions.md). */
export const replayRun = async (parts: RunParts, call: ReplayCall): Promise<ResultOf<'runs.replay'>> => {
  const { host } = parts
  const { body, params, idempotency } = call
  const prior = await findRun(host, call, params.run_id)
  const { project, tenant, user } = prior.owner
  if (tenant !== null) await parts.checkTenant(project, tenant)
  const run = contextOf(runDefinition, prior.state.snapshot)
  const resolved = await resolvedAgain(parts, { project, tenant }, run)
  const config = await parts.configs.read(project, run.config)
  const limits = withGuardrails(workLimitsOf(call.principal), config)
  requireConfigModels(limits.models, resolved.config, { byDefault: parts.defaultModel() })
  const task = body?.input ?? runInputOf(run.input)
  const after = body?.after_sequence
  const history =
    after === undefined ? undefined : await historyUpTo(parts.readLog, prior.id, { after, input: inputFrom(task) })
  const runId = newIdFor(call, 'run', host.newActorId)
  const input = await planRun(parts, {
    ...{ runId, project, tenant, user, ...limits, memory: config.memory ?? false },
    resolved: asThen(resolved, run),
    input: task,
    ...(history !== undefined && { history }),
    expiresIn: run.expires_in_ms / msPerSecond,
    replayOf: prior.id,
    createdBy: actorOf(call),
    ...reasonOf(body),
  })
  const owner = { project, tenant, user, createdAt: parts.now() }
  await host.create({ kind: runDefinition, id: runId, owner, input, cause: causeOf(idempotency) })
  return runView(host, await findRun(host, call, runId))
}

/**
 * Resolves the agent of a run again. A child run's installation may be that of its parent, which belongs to another
 * agent; then the agent is resolved without an installation.
 */
const resolvedAgain = async (
  { resolveAgent }: RunParts,
  { project, tenant }: Pick<Owner, 'project' | 'tenant'>,
  { agent_id: agentId, agent_version_id: version, installation_id: installationId, parent }: RunContext,
): Promise<ResolvedConfig> => {
  const reference = { project, agentId, version, tenant }
  try {
    return await resolveAgent({ ...reference, installationId })
  } catch (error) {
    if (parent === null || !isMissing(error)) throw error
    return resolveAgent({ ...reference, installationId: null })
  }
}

const isMissing = (error: unknown): boolean => isNotFound(error) && error.details.param === 'installation_id'

/**
 * Restores installation, policy and rate plan that the original inherited from its parent: the replay has no parent.
 */
const asThen = (resolved: ResolvedConfig, { installation_id, policy, rate_plan_id }: RunContext): ResolvedConfig => ({
  ...resolved,
  installation_id: resolved.installation_id ?? installation_id,
  approval_policy: resolved.approval_policy ?? policy,
  rate_plan_id: resolved.rate_plan_id ?? rate_plan_id,
})
