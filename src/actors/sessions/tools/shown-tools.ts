import type { ModelMessage, ModelTool } from '#gateway/call/provider-port.ts'
import { type TurnTool, toolName } from '../turns/turn-config.ts'
import { modelTool } from './model-tool.ts'

/**
 * The tools that a model call lists. A deferred tool is listed once a tool search has returned its name in the
 * conversation (`found_tools`): the definitions of hundreds of tools would crowd out the conversation.
 */
export const shownTools = (tools: readonly TurnTool[], messages: readonly ModelMessage[]): readonly ModelTool[] => {
  if (!tools.some(isDeferred)) return tools.map(modelTool)
  const found = messages
    .filter(({ role, content }) => role === 'tool' && content.includes('"found_tools"'))
    .map(({ content }) => content)
  const isFound = (tool: TurnTool): boolean => found.some((text) => text.includes(`"${toolName(tool)}"`))
  return tools.filter((tool) => !isDeferred(tool) || isFound(tool)).map(modelTool)
}

const isDeferred = (tool: TurnTool): boolean => tool.type === 'server' && tool.deferred === true
