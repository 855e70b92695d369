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
import type { conversationMemory } from '#specs/memory-field.ts'
import { type ContextPolicy, type Sampling, type TurnConfig, type TurnTool, toolName } from './turn-config.ts'

/** What a turn request says, as far as it plans the turn. */
export interface TurnRequest {
  readonly tools?: readonly TurnTool[]
  readonly instructions?: string
  readonly model?: string
  readonly pause_on_tool_calls?: boolean
  readonly memory?: MemoryField | null
  /** Whom the session or run is for; null or absent for no one. */
  readonly user?: string | null
  /** It comes with a credential that is seen in browsers: what the agent gates stays gated, and its tools stay its own. */
  readonly guarded?: boolean
}

/** What an agent brings to its sessions' turns. */
export interface AgentConfig {
  readonly model: string | null
  readonly system_prompt: string | null
  readonly tools: readonly TurnTool[]
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** What else it says of its model calls. */
  readonly sampling?: Sampling
  /** What happens when a conversation outgrows the model. */
  readonly context?: ContextPolicy
  /** Memory of the end user; absent for none. */
  readonly memory?: MemoryField
  /** What a turn does that does not say. */
  readonly pause_on_tool_calls: boolean | null
  /** What a turn with a browser's credential may say otherwise than the agent. */
  readonly turn_overrides?: readonly string[]
  /** Of the installation that the session runs in: stricter than what a turn says, for turns come from browsers too. */
  readonly approval_policy?: ApprovalRule
  /** The plan by which the installation's tenant is charged. */
  readonly rate_plan_id?: string
}

/** A turn, ready to be given to the session's machine. */
export interface TurnPlan {
  readonly model: string
  readonly config: TurnConfig
  readonly tools: Readonly<Record<string, SessionTool>>
}

const weekMs = 7 * 24 * 60 * 60 * 1000
const msPerSecond = 1000

/** A turn without an agent. */
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
 * Puts a turn request over its agent's configuration: a tool of the request replaces the agent's of the same name. A tool
 * that the installation's policy denies is not there: the model does not get it, and a call of it is of an unknown tool.
 *
 * @throws {ServiceError} `invalid_field` for two tools of one name; `secret_key_required` for a guarded request with a tool
 * of the agent's name, without leave.
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
      ...(agent.context !== undefined && { context: agent.context }),
      ...memory,
      ...(rate_plan_id !== undefined && { rate_plan_id }),
    },
    tools: sessionTools(tools, namesToApprove(tools, request, agent), policy),
  }
}

type MemoryField = Infer<typeof conversationMemory>

/** The turn's field before the agent's; `extract` names a model that costs, so that a browser has no say in it. */
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

/** An index of memories comes with the tool that reads one whole, unless a tool of that name is there. */
const withMemoryFetch = (
  tools: readonly TurnTool[],
  { user = null }: TurnRequest,
  { memory }: Pick<TurnConfig, 'memory'>,
): readonly TurnTool[] => {
  if (memory?.mode !== 'index' || memory.retrieve === false || user === null) return tools
  if (tools.some((tool) => toolName(tool) === memoryFetch.name)) return tools
  return [...tools, { ...memoryFetch, settings: { namespace: memory.namespace ?? null } }]
}

/** Fallbacks are for the agent's own model: who names another wants that one. */
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
      throw new ServiceError('invalid_field', { param: `tools[${index}]`, message: `Two tools are named ${name}.` })
    }
    names.add(name)
  })
  return [...agents.filter((tool) => !names.has(toolName(tool))), ...own]
}

/** @throws {ServiceError} `secret_key_required` for a tool that would take the place of one of the agent's, without leave. */
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
 * The tools whose calls want a person's approval. In a guarded request `pause_on_tool_calls` speaks for the request's own
 * tools: those of the agent are gated as the agent says, also under another declaration of the same name.
 */
const namesToApprove = (
  tools: readonly TurnTool[],
  { tools: own = [], pause_on_tool_calls: pause, guarded = false }: TurnRequest,
  agent: AgentConfig,
): ReadonlySet<string> =>
  guarded
    ? new Set([
        ...gatedNames(agent.tools, agent.pause_on_tool_calls),
        ...gatedNames(own, pause ?? agent.pause_on_tool_calls),
      ])
    : new Set(gatedNames(tools, pause ?? agent.pause_on_tool_calls))

/** A tool that only reads what the agent names needs no approval, unless it says so itself. */
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
  if (tools.length === 0) return {}
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
