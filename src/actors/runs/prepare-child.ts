import type { RunCall, RunContext } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { contextOf, type EffectContext, type IdempotentEffect, isObject } from '../runtime/index.ts'
import { newIdBeside } from '../runtime/internal.ts'
import { requireConfigModels } from '../sessions/turns/limited-models.ts'
import type { ResolveAgent } from '../sessions/turns/resolved-config.ts'
import { inputFrom, type ParentRun, type PlanParts, planRun } from './plan-run.ts'

/** Dependencies of `prepareChild`. */
export interface ChildParts extends PlanParts {
  readonly resolveAgent: ResolveAgent
}

/**
 * Effect that plans the child run which the model requested with a delegation tool. A refusal is reported to the model
 * as the output of its call.
 */
export const prepareChild = (parts: ChildParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (params, context) => {
    const action_id = String(params.action_id)
    try {
      return { event: { type: 'child_prepared', action_id, child: await planned(parts, context, action_id) } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { event: { type: 'child_refused', action_id, code: error.code, message: error.message } }
    }
  },
})

const planned = async (parts: ChildParts, { owner, context, actor }: EffectContext, actionId: string) => {
  const run = contextOf(runDefinition, { context })
  const call = run.calls.find(({ action_id }) => action_id === actionId)
  const subagent = call === undefined ? undefined : run.tools[call.tool]?.subagent
  if (call === undefined || !subagent) throw new ServiceError('subagent_not_allowed')
  const { project, tenant, user } = owner
  const resolved = await parts.resolveAgent({
    project,
    agentId: subagent.agent_id,
    installationId: null,
    version: subagent.version,
    tenant,
  })
  const { models, guardrails } = await parts.configs.read(project, run.config)
  requireConfigModels(models, resolved.config, { byDefault: parts.defaultModel() })
  return planRun(parts, {
    ...{ models, guardrails },
    runId: newIdBeside('run', actor),
    project,
    tenant,
    user,
    resolved,
    input: taskOf(call),
    parent: parentOf(run, actionId),
    createdBy: null,
  })
}

/** The properties of a run that its children inherit or refer to. */
export const parentOf = (run: RunContext, action_id: string): ParentRun => ({
  run_id: run.run_id,
  action_id,
  depth: run.depth,
  installation_id: run.installation_id,
  rate_plan_id: run.rate_plan_id,
  policy: run.policy,
})

const taskOf = (call: RunCall): JsonObject => {
  const given: Json = JSON.parse(call.arguments)
  if (isObject(given) && typeof given.task === 'string') return { prompt: given.task }
  return inputFrom(given)
}
