import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import { shownTools } from '../tools/shown-tools.ts'
import type { TurnConfig } from './turn-config.ts'

/** Returns the request of a model call, in the form that the gateway takes. */
export const requestOf = (
  config: TurnConfig,
  { model, steps }: { readonly model: string; readonly steps: number },
  messages: readonly ModelMessage[],
): Omit<ModelRequest, 'idempotencyKey'> => ({
  model,
  instructions: config.instructions,
  messages,
  tools: shownTools(config.tools, messages),
  ...moreOf(config, steps),
  ...(config.temperature !== null && { temperature: config.temperature }),
  ...(config.max_tokens !== null && { maxTokens: config.max_tokens }),
})

/**
 * The other parameters of the config. Those about tools are only sent with tools. A `tool_choice` that forces a call
 * only applies to the first model call: forced at each call, a turn would never end.
 */
const moreOf = ({ sampling, tools }: TurnConfig, steps: number): Pick<ModelRequest, 'more'> => {
  if (sampling === undefined) return {}
  const { tool_choice: choice, parallel_tool_calls: parallel, ...more } = sampling
  if (tools.length === 0) return { more }
  const forced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  return {
    more: {
      ...more,
      ...(choice !== undefined && { tool_choice: forced && steps > 1 ? 'auto' : choice }),
      ...(parallel !== undefined && { parallel_tool_calls: parallel }),
    },
  }
}
