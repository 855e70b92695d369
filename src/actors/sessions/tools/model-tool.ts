import type { ModelTool } from '#gateway/call/provider-port.ts'
import { type TurnTool, toolName } from '../turns/turn-config.ts'

const anyArguments = { type: 'object', properties: {} }

const webSearch: Omit<ModelTool, 'name'> = {
  description: 'Searches the web and returns results with their addresses.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
}

/** Converts a declared tool to the form that a model gets. */
export const modelTool = (tool: TurnTool): ModelTool => {
  if (tool.type === 'web_search_preview') return { name: toolName(tool), ...webSearch }
  const { description, parameters } = tool.type === 'function' ? tool.function : tool
  return { name: toolName(tool), description: description ?? '', parameters: parameters ?? anyArguments }
}
