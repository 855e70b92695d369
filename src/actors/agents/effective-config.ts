import type { Subagent } from '../sessions/turns/resolved-config.ts'
import { toolName } from '../sessions/turns/turn-config.ts'
import type { AgentConfig } from '../sessions/turns/turn-plan.ts'
import type { Overlays } from './kinds.ts'
import type { Manifest } from './schema.ts'

/** Converts a config as its author wrote it to the form that sessions and runs use. */
export const runnable = (config: Manifest): AgentConfig => ({
  model: config.model,
  system_prompt: [config.system_prompt, config.instructions].filter(Boolean).join('\n\n') || null,
  tools: config.tools ?? [],
  temperature: config.temperature ?? null,
  max_tokens: config.max_tokens ?? null,
  pause_on_tool_calls: config.pause_on_tool_calls ?? null,
  turn_overrides: config.turn_overrides ?? [],
  ...samplingOf(config),
  ...(config.guardrails !== undefined && { guardrails: config.guardrails }),
  ...(config.on_interrupted !== undefined && { on_interrupted: config.on_interrupted }),
  ...(config.show_reasoning !== undefined && { show_reasoning: config.show_reasoning }),
  ...(config.context !== undefined && { context: config.context }),
  ...(config.memory !== undefined && { memory: config.memory }),
})

const samplingFields = [
  'top_p',
  'stop',
  'response_format',
  'reasoning_effort',
  'seed',
  'tool_choice',
  'parallel_tool_calls',
  'models',
] as const satisfies readonly (keyof Manifest)[]

/** The parameters of a config that are named as in the chat completions API. */
const samplingOf = (config: Manifest): Pick<AgentConfig, 'sampling'> => {
  const given = samplingFields.flatMap((field) =>
    config[field] === undefined ? [] : [[field, config[field]] as const],
  )
  return given.length === 0 ? {} : { sampling: Object.fromEntries(given) }
}

/**
 * Applies an installation's overlays to its version's config. The prompt is appended, a tool replaces the version's
 * tool of the same name, `limits` and `context` are merged by field, and any other field replaces the version's.
 */
export const overlaid = (config: Manifest, overlays: Overlays): Manifest => {
  const { system_prompt_append, tools, limits, context, ...replaced } = overlays
  const given = Object.fromEntries(Object.entries(replaced).filter(([, value]) => value !== undefined))
  const { system_prompt: _prompt, instructions: _instructions, tools: _tools, ...rest } = config
  const prompt = [config.system_prompt, config.instructions, system_prompt_append].filter(Boolean).join('\n\n')
  return {
    ...rest,
    ...given,
    ...(prompt !== '' && { system_prompt: prompt }),
    ...mergedTools(config.tools ?? [], tools ?? []),
    ...((config.context || context) && { context: { ...config.context, ...context } }),
    ...((config.limits || limits) && { limits: { ...config.limits, ...limits } }),
  }
}

type Tools = NonNullable<Manifest['tools']>

const mergedTools = (own: Tools, over: Tools): { readonly tools?: Tools } => {
  const names = new Set(over.map(toolName))
  const tools = [...own.filter((tool) => !names.has(toolName(tool))), ...over]
  return tools.length === 0 ? {} : { tools }
}

/** The agents to which a run may delegate, from either notation of the config. */
export const subagentsOf = ({ subagents = [] }: Manifest): readonly Subagent[] =>
  subagents.map((each) =>
    typeof each === 'string'
      ? { agent_id: each, version: null, description: null }
      : { agent_id: each.agent_id, version: each.version ?? null, description: each.description ?? null },
  )
