import { Decimal } from 'decimal.js'
import { type ApprovalRule, approvalMode } from '#machines/approval.ts'
import type { RunInput, RunLimits, RunParent, RunTool } from '#machines/run/run-data.ts'
import { maxDepth } from '#machines/run/run-steps.ts'
import type { SessionTool } from '#machines/session/session-data.ts'
import type { RunCeilings } from '#specs/run-limits.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import { isObject } from '../runtime/index.ts'
import type { ResolvedConfig, Subagent } from '../sessions/turns/resolved-config.ts'
import { configOwner, type ToolDeclaration, type TurnConfig, type TurnConfigs } from '../sessions/turns/turn-config.ts'
import { planTurn, type TurnRequest } from '../sessions/turns/turn-plan.ts'
import { laneIdOf, queueIdOf } from './lanes.ts'

/** A run to plan, and on whose behalf it runs. */
export interface RunRequest {
  readonly runId: string
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly resolved: ResolvedConfig
  readonly input: JsonObject
  /** How the run uses memory; takes precedence over the agent's setting. */
  readonly memory?: TurnRequest['memory']
  /** The only models that the run, its delegations and its memory may use; undefined: any. */
  readonly models?: readonly string[] | undefined
  /** Guardrails in addition to the agent's: those of the key, and of the run that delegates or is repeated. */
  readonly guardrails?: readonly string[] | undefined
  /** Seconds; undefined for the maximum, a week. */
  readonly expiresIn?: number | undefined
  readonly parent?: ParentRun
  /** Id of the run that this one replays. */
  readonly replayOf?: string
  /** What it knows from a step of that run on (`historyUpTo`). */
  readonly history?: string
  /** The caller's reason for the request. */
  readonly reason?: string | undefined
  /** The caller; null when a model delegated. */
  readonly createdBy: AuditActor | null
}

/**
 * The delegating run. Its children inherit its installation, rate plan and policy where they have none of their own.
 */
export interface ParentRun extends RunParent {
  readonly depth: number
  readonly installation_id: string | null
  readonly rate_plan_id: string | null
  readonly policy: ApprovalRule | null
}

/** Dependencies of `planRun`. */
export interface PlanParts {
  readonly configs: TurnConfigs
  /**
   * Checks that the model can be called.
   *
   * @throws {ServiceError} `model_not_found`, `provider_not_configured`, `provider_not_active`.
   */
  readonly checkModel: (model: string, project: string) => unknown
  readonly defaultModel: () => string
  /** No ceilings when absent. */
  readonly ceilings?: RunCeilings | undefined
}

const noCeilings: RunCeilings = { maxSteps: null, maxTokens: null, maxCostUsd: null, maxDurationS: null }
const msPerSecond = 1000
const weekS = 7 * 24 * 60 * 60
const weekMs = weekS * msPerSecond
const defaultSteps = 50

/**
 * Determines everything that stays fixed for a run from its creation on: model, tools with their approval rules,
 * limits, lane.
 *
 * @throws {ServiceError} as `checkModel`; {StoreUnavailable}.
 */
export const planRun = async (parts: PlanParts, request: RunRequest): Promise<RunInput> => {
  const { runId, project, tenant, resolved, parent } = request
  const depth = parent === undefined ? 0 : parent.depth + 1
  const { user, memory = null, models, guardrails } = request
  const plan = planTurn({ user, memory, models, guardrails }, resolved.config, parts.defaultModel())
  await parts.checkModel(plan.model, project)
  const policy = resolved.approval_policy ?? parent?.policy ?? null
  const agentTools = depth < maxDepth ? delegations(resolved.subagents, plan.tools) : []
  const tools = [...plan.config.tools, ...agentTools.map(({ declaration }) => declaration)]
  const owner = configOwner(runId, { tenant, user: request.user })
  const config = await parts.configs.keep(project, { ...plan.config, tools }, owner)
  return {
    run_id: runId,
    agent_id: resolved.agent_id,
    agent_version_id: resolved.agent_version_id,
    version: resolved.version,
    installation_id: resolved.installation_id ?? parent?.installation_id ?? null,
    rate_plan_id: resolved.rate_plan_id ?? parent?.rate_plan_id ?? null,
    parent: parent === undefined ? null : { run_id: parent.run_id, action_id: parent.action_id },
    ...(request.replayOf !== undefined && { replay_of: request.replayOf }),
    ...(request.history !== undefined && { history: request.history }),
    ...(request.reason !== undefined && { reason: request.reason }),
    created_by: request.createdBy,
    depth,
    input: JSON.stringify(request.input),
    model: plan.model,
    config,
    tools: runTools({ ...toolsOf(plan.tools), ...Object.fromEntries(agentTools.map(asTool)) }, policy),
    limits: limitsOf(resolved.source.limits, parts.ceilings ?? noCeilings),
    policy,
    expires_in_ms: request.expiresIn === undefined ? weekMs : request.expiresIn * msPerSecond,
    queue_id: queueIdOf(project),
    lane: laneIdOf(project, tenant),
  }
}

/** Adds the guardrails of the run that delegates or is repeated to the limits of a key. */
export const withGuardrails = <T extends Pick<RunRequest, 'guardrails'>>(
  limits: T,
  { guardrails = [] }: TurnConfig,
): T => ({
  ...limits,
  guardrails: [...guardrails, ...(limits.guardrails ?? [])],
})

const toolsOf = (tools: Readonly<Record<string, SessionTool>>): Record<string, RunTool> =>
  Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, { ...tool, denied: false, subagent: null }]))

/** Applies the approval rule to each tool. */
const runTools = (tools: Readonly<Record<string, RunTool>>, rule: ApprovalRule | null) =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]): [string, RunTool] => {
      const mode = approvalMode({ name, gated: tool.gated, risk_level: tool.risk_level }, rule)
      return [name, { ...tool, gated: mode === 'require', denied: mode === 'deny' }]
    }),
  )

interface AgentTool {
  readonly name: string
  readonly subagent: Subagent
  readonly declaration: ToolDeclaration
}

/** One tool for each agent to which the run may delegate. */
const delegations = (
  subagents: readonly Subagent[],
  taken: Readonly<Record<string, unknown>>,
): readonly AgentTool[] => {
  const names = new Set(Object.keys(taken))
  return subagents.map((subagent) => {
    const name = freeName(`delegate_to_${subagent.agent_id}`.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 60), names)
    names.add(name)
    return { name, subagent, declaration: declarationOf(name, subagent) }
  })
}

const freeName = (name: string, taken: ReadonlySet<string>): string => {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name}_${number}`
  return free
}

const declarationOf = (name: string, { agent_id, description }: Subagent): ToolDeclaration => ({
  type: 'function',
  function: {
    name,
    description: description ?? `Hands a bounded task to the agent ${agent_id} and returns its result.`,
    parameters: {
      type: 'object',
      properties: { task: { type: 'string', description: 'The task, with all that the agent needs to know.' } },
      required: ['task'],
    },
  },
})

const asTool = ({ name, subagent }: AgentTool): [string, RunTool] => [
  name,
  {
    kind: 'agent',
    gated: false,
    denied: false,
    risk_level: 'medium',
    policy: 'idempotent',
    expires_in_ms: weekMs,
    subagent: { agent_id: subagent.agent_id, version: subagent.version },
  },
]

/**
 * An agent's `limits` (specs/run-limits.ts), capped by the operator's ceilings. Without either, tokens and cost are
 * unlimited, but steps and duration have defaults.
 */
const limitsOf = (limits: Json | undefined, ceilings: RunCeilings): RunLimits => {
  const { max_steps, max_tokens, max_cost_usd, max_duration_s } = isObject(limits) ? limits : {}
  const { maxSteps, maxTokens, maxCostUsd, maxDurationS } = ceilings
  return {
    max_steps: min(max_steps ?? defaultSteps, maxSteps) ?? defaultSteps,
    max_tokens: min(max_tokens, maxTokens),
    max_cost_usd: minCost(max_cost_usd, maxCostUsd),
    max_duration_ms: (min(max_duration_s, maxDurationS) ?? weekS) * msPerSecond,
  }
}

const min = (own: Json | undefined, ceiling: number | null): number | null => {
  if (typeof own !== 'number') return ceiling
  return ceiling === null ? own : Math.min(own, ceiling)
}

const minCost = (own: Json | undefined, ceiling: string | null): string | null => {
  const bounds = [typeof own === 'number' ? own : null, ceiling].filter((bound) => bound !== null)
  return bounds.length === 0 ? null : Decimal.min(...bounds).toFixed()
}

/** Converts any JSON to the input of a run: an object stays as it is, anything else becomes its prompt. */
export const inputFrom = (value: Json): JsonObject => {
  if (isObject(value)) return value
  return { prompt: typeof value === 'string' ? value : JSON.stringify(value) }
}
