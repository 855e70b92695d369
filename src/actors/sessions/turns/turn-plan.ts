import { memoryFetch } from '#actors/capability/memory-service.ts'
import {
  type ApprovalRule,
  approvalMode,
  gatedTools,
  pausesByDefault,
  type ToolKind,
  type ToolTraits,
} from '#machines/approval.ts'
import type { SessionTool } from '#machines/session/session-data.ts'
import { turnOverrides } from '#specs/agent-config.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { conversationMemory } from '#specs/memory-field.ts'
import { withDeciders } from './tool-deciders.ts'
import { type ContextPolicy, type Sampling, type TurnConfig, type TurnTool, toolName } from './turn-config.ts'

/** The fields of a turn request that determine its plan. */
export interface TurnRequest {
  readonly tools?: readonly TurnTool[]
  readonly instructions?: string
  readonly model?: string
  readonly pause_on_tool_calls?: boolean
  readonly memory?: MemoryField | null
  /** The models of the limited key that starts the turn or run; absent: any. */
  readonly models?: readonly string[] | undefined
  /** Guardrails in addition to the agent's: of the key that starts it, or of what delegates or is repeated. */
  readonly guardrails?: readonly string[] | undefined
  /** External id of the user of the session or run; null or absent for none. */
  readonly user?: string | null
  /**
   * Whether the credential is visible in browsers. Then the request may not lift the agent's approvals, nor replace its
   * tools without permission.
   */
  readonly guarded?: boolean
}

/** The config of an agent for its sessions' turns. */
export interface AgentConfig {
  readonly model: string | null
  readonly system_prompt: string | null
  readonly tools: readonly TurnTool[]
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** Other parameters of its model calls. */
  readonly sampling?: Sampling
  /** How a conversation that outgrows the model is shortened. */
  readonly context?: ContextPolicy
  /** Memory of the end user; absent for none. */
  readonly memory?: MemoryField
  /** Default for turns that do not set the field. */
  readonly pause_on_tool_calls: boolean | null
  /** What a crash of the server in the middle of an answer does to its turn; absent: `retry`. */
  readonly on_interrupted?: 'retry' | 'restart' | 'fail'
  /** Whether the log of a session has what the model reasons. */
  readonly show_reasoning?: boolean
  /** Guardrails of its model calls. */
  readonly guardrails?: readonly string[]
  /** Fields that a turn with a browser's credential may override. */
  readonly turn_overrides?: readonly string[]
  /**
   * Policy of the session's installation. It takes precedence over the turn's own field, since browsers send turns too.
   */
  readonly approval_policy?: ApprovalRule
  /** The plan by which the installation's tenant is charged. */
  readonly rate_plan_id?: string
  /** Whether users of tenants may not use it, since it is not an installation of a private agent. */
  readonly private?: true
}

/** A turn, ready to be delivered to the session's machine. */
export interface TurnPlan {
  readonly model: string
  readonly config: TurnConfig
  readonly tools: Readonly<Record<string, SessionTool>>
}

const weekMs = 7 * 24 * 60 * 60 * 1000
const msPerSecond = 1000

/** Config of a turn without an agent. */
export const noAgent: AgentConfig = {
  model: null,
  system_prompt: null,
  tools: [],
  temperature: null,
  max_tokens: null,
  pause_on_tool_calls: null,
  turn_overrides: turnOverrides,
}

/**
 * Merges a turn request into its agent's configuration. A tool of the request replaces the agent's tool of the same
 * name. A tool that the installation's policy denies is left out: the model does not get it, and a call of it is a call
 * of an unknown tool.
 *
 * @throws {ServiceError} `invalid_field` for two tools with one name; `secret_key_required` for a guarded request that
 * replaces a tool of the agent without permission, or sets `memory.extract`.
 */
export const planTurn = (request: TurnRequest, agent: AgentConfig, defaultModel: string): TurnPlan => {
  const { approval_policy: policy = null, rate_plan_id } = agent
  if (request.guarded) checkNames(request.tools ?? [], agent)
  const memory = memoryOf(request, agent)
  const offered = mergedTools(request.tools ?? [], agent.tools)
  const tools = withMemoryFetch(offered, request, memory).filter((tool) => ruleFor(tool, policy) !== 'deny')
  return {
    model: request.model ?? agent.model ?? defaultModel,
    config: {
      instructions: [agent.system_prompt, request.instructions].filter((text) => typeof text === 'string'),
      tools,
      temperature: agent.temperature,
      max_tokens: agent.max_tokens,
      ...samplingOf(request, agent),
      ...(agent.on_interrupted === 'fail' && { on_interrupted: 'fail' as const }),
      ...(agent.show_reasoning === true && { show_reasoning: true as const }),
      ...guardrailsOf(request, agent),
      ...(agent.context !== undefined && { context: agent.context }),
      ...memory,
      ...(request.models !== undefined && { models: request.models }),
      ...(rate_plan_id !== undefined && { rate_plan_id }),
    },
    tools: tools.length === 0 ? {} : decidedTools(tools, request, agent),
  }
}

const decidedTools = (tools: readonly TurnTool[], request: TurnRequest, agent: AgentConfig): TurnPlan['tools'] => {
  const { approval_policy: policy = null, tools: agents } = agent
  const { tools: own = [], guarded = false } = request
  const decided = sessionTools(tools, namesToApprove(tools, request, agent), policy)
  return withDeciders(decided, { own, agents, policy, guarded })
}

const guardrailsOf = (request: TurnRequest, agent: AgentConfig): Pick<TurnConfig, 'guardrails'> => {
  const all = [...(agent.guardrails ?? []), ...(request.guardrails ?? [])]
  return all.length === 0 ? {} : { guardrails: [...new Set(all)] }
}

type MemoryField = Infer<typeof conversationMemory>

/**
 * The turn's field takes precedence over the agent's. `extract` names a model that costs money, so a browser may not
 * set it.
 */
const memoryOf = ({ memory: own, guarded }: TurnRequest, agent: AgentConfig): Pick<TurnConfig, 'memory'> => {
  if (guarded && typeof own === 'object' && own?.extract !== undefined)
    throw new ServiceError('secret_key_required', {
      param: 'memory.extract',
      message: 'Only secret keys may set extract.',
    })
  const wanted = own ?? agent.memory ?? false
  if (wanted === false) return {}
  return { memory: wanted === true ? {} : wanted }
}

/** Adds the tool that reads a whole memory when memories are listed as an index, unless a tool of that name exists. */
const withMemoryFetch = (
  tools: readonly TurnTool[],
  { user = null }: TurnRequest,
  { memory }: Pick<TurnConfig, 'memory'>,
): readonly TurnTool[] => {
  if (memory?.mode !== 'index' || memory.retrieve === false || user === null) return tools
  if (tools.some((tool) => toolName(tool) === memoryFetch.name)) return tools
  return [...tools, { ...memoryFetch, settings: { namespace: memory.namespace ?? null } }]
}

/** Fallbacks only apply to the agent's own model, not to a model that the request names. */
const samplingOf = ({ model }: TurnRequest, { sampling }: AgentConfig): Pick<TurnConfig, 'sampling'> => {
  if (sampling === undefined) return {}
  const { models, ...rest } = sampling
  const kept = model === undefined && models !== undefined ? { ...rest, models } : rest
  return Object.keys(kept).length === 0 ? {} : { sampling: kept }
}

const mergedTools = (own: readonly TurnTool[], agents: readonly TurnTool[]): readonly TurnTool[] => {
  const names = new Set<string>()
  own.forEach((tool, index) => {
    const name = toolName(tool)
    if (names.has(name)) {
      throw invalidField(`tools[${index}]`, `Two tools are named ${name}.`)
    }
    names.add(name)
  })
  return [...agents.filter((tool) => !names.has(toolName(tool))), ...own]
}

/** @throws {ServiceError} `secret_key_required` for a tool that would replace one of the agent's without permission. */
const checkNames = (own: readonly TurnTool[], agent: AgentConfig): void => {
  if (agent.turn_overrides?.includes('tools')) return
  const taken = new Set(agent.tools.map(toolName))
  const at = own.findIndex((tool) => taken.has(toolName(tool)))
  if (at < 0) return
  throw new ServiceError('secret_key_required', {
    param: `tools[${at}]`,
    message: 'The agent has a tool with this name, which this credential may not replace.',
  })
}

/**
 * The names of the tools whose calls require approval. Marks of the request's own tools do not lift the approvals that
 * the agent requires for its tools; only `pause_on_tool_calls` does. In a guarded request that applies only to the
 * request's own tools too: the agent's tools require approval as the agent declares, also under another declaration of
 * the same name.
 */
const namesToApprove = (
  tools: readonly TurnTool[],
  { tools: own = [], pause_on_tool_calls: pause, guarded = false }: TurnRequest,
  agent: AgentConfig,
): ReadonlySet<string> => {
  const agents = guarded ? agent.tools : agent.tools.filter((tool) => tools.includes(tool))
  const kept = guarded || pause === undefined ? gatedNames(agents, agent.pause_on_tool_calls) : []
  return new Set([...kept, ...gatedNames(guarded ? own : tools, pause ?? agent.pause_on_tool_calls)])
}

/** Whether a tool only reads resources that the agent names: it needs no approval, unless it declares so itself. */
const runsUngated = (tool: TurnTool): boolean =>
  tool.type === 'server' && tool.needsApproval !== true && (tool.risk_level ?? 'low') === 'low'

const gatedNames = (all: readonly TurnTool[], pause: boolean | null): readonly string[] => {
  const tools = all.filter((tool) => !runsUngated(tool))
  const traits = Object.fromEntries(tools.map((tool) => [toolName(tool), traitsOf(tool)]))
  return gatedTools(pause ?? pausesByDefault(traits), traits)
}

const sessionTools = (
  tools: readonly TurnTool[],
  gated: ReadonlySet<string>,
  policy: ApprovalRule | null,
): Readonly<Record<string, SessionTool>> => {
  const needsApproval = (tool: TurnTool): boolean => {
    const isGated = gated.has(toolName(tool))
    return policy === null ? isGated : ruleFor(tool, policy, isGated) === 'require'
  }
  return Object.fromEntries(tools.map((tool) => [toolName(tool), sessionTool(tool, needsApproval(tool))]))
}

const ruleFor = (tool: TurnTool, policy: ApprovalRule | null, gated = false) =>
  policy === null
    ? 'auto'
    : approvalMode({ name: toolName(tool), gated, risk_level: sessionTool(tool, gated).risk_level }, policy)

const kinds = {
  function: 'function',
  http: 'http',
  web_search_preview: 'builtin',
  server: 'builtin',
} as const satisfies Record<TurnTool['type'], ToolKind>

const traitsOf = (tool: TurnTool): ToolTraits => ({
  kind: kinds[tool.type],
  needs_approval: tool.needsApproval ?? false,
})

const sessionTool = (tool: TurnTool, gated: boolean): SessionTool => {
  const kind = kinds[tool.type]
  const common = { kind, gated, risk_level: 'medium', policy: 'at_most_once', expires_in_ms: weekMs } as const
  if (tool.type === 'web_search_preview') return { ...common, risk_level: 'low', policy: 'idempotent' }
  if (tool.type === 'server') return { ...common, risk_level: tool.risk_level ?? 'low', policy: tool.effect }
  return {
    ...common,
    ...(tool.risk_level !== undefined && { risk_level: tool.risk_level }),
    ...(tool.type === 'http' && tool.effect !== undefined && { policy: tool.effect }),
    ...(tool.expires_in !== undefined && { expires_in_ms: tool.expires_in * msPerSecond }),
  }
}
