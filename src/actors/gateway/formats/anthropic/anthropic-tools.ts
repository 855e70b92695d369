import { arrayOf, isObject, objectOf, textOf, type WireObject } from '../../wire.ts'
import type { OfferedFunctions } from '../chat-tools.ts'

/** `tools` and `tool_choice` of a request whose conversation is `messages`. */
export function anthropicTools(offered: OfferedFunctions, messages: readonly unknown[]): WireObject {
  return offered.functions.length === 0 ? calledTools(messages) : offeredTools(offered)
}

function offeredTools({ functions, choice, parallel }: OfferedFunctions): WireObject {
  const tools = functions.map(({ name, description, parameters, tool }) => ({
    name,
    ...(description === null ? {} : { description }),
    input_schema: { ...parameters, type: 'object' },
    ...(isObject(tool.cache_control) ? { cache_control: tool.cache_control } : {}),
  }))
  const single = parallel ? {} : { disable_parallel_tool_use: true }
  if (choice?.kind === 'none') return { tools, tool_choice: { type: 'none' } }
  if (choice?.kind === 'required') return { tools, tool_choice: { type: 'any', ...single } }
  if (choice?.kind === 'function') return { tools, tool_choice: { type: 'tool', name: choice.name, ...single } }
  return choice === null && parallel ? { tools } : { tools, tool_choice: { type: 'auto', ...single } }
}

/** The format wants every tool defined that the conversation has calls of, also where none may be called any more. */
function calledTools(messages: readonly unknown[]): WireObject {
  const calls = messages.flatMap((message) => arrayOf(objectOf(message).tool_calls))
  const names = new Set(calls.map((call) => textOf(objectOf(objectOf(call).function).name)))
  if (names.size === 0) return {}
  const tools = [...names].map((name) => ({ name, input_schema: { type: 'object' } }))
  return { tools, tool_choice: { type: 'none' } }
}
