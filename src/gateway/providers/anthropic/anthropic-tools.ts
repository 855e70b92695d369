import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { OfferedFunction, OfferedFunctions } from '../chat-tools.ts'
import type { AnthropicModel } from './anthropic-model.ts'
import { closedSchema } from './closed-schema.ts'

/**
 * Field of a chat request that carries Anthropic's own tools (search, code, bash, editor …) as the caller wrote them.
 */
export const ownToolsField = 'anthropic_tools'

/** Maximum strict tools per request; Anthropic rejects more. */
const maxStrict = 20

/** Returns `tools` and `tool_choice` for a request. */
export function anthropicTools(
  offered: OfferedFunctions,
  { messages, [ownToolsField]: ownTools }: WireObject,
  { structured }: Pick<AnthropicModel, 'structured'>,
): WireObject {
  const { functions } = offered
  const own = arrayOf(ownTools).filter(isObject)
  if (functions.length === 0 && own.length === 0) return calledTools(arrayOf(messages))
  const { tools, ...choice } = offeredTools(offered, structured && functions.filter(isStrict).length <= maxStrict)
  return { tools: [...own, ...tools], ...choice }
}

/** Fields of a tool for Anthropic only: whether it is loaded when found, streamed unchecked, and how it is used. */
export const toolMarkFields = ['defer_loading', 'eager_input_streaming', 'input_examples'] as const

/** The marks of a tool, as they were sent. */
export const toolMarks = (tool: WireObject): WireObject =>
  Object.fromEntries(
    toolMarkFields.flatMap((name) => (tool[name] === undefined || tool[name] === null ? [] : [[name, tool[name]]])),
  )

const isStrict = ({ tool }: OfferedFunction): boolean => objectOf(tool.function).strict === true

interface OfferedFields {
  readonly tools: readonly WireObject[]
  readonly tool_choice?: WireObject
}

/** @param strictly whether functions that request it are sent as strict tools. */
function offeredTools({ functions, choice, parallel }: OfferedFunctions, strictly: boolean): OfferedFields {
  const tools = functions.map((each) => {
    const { name, description, parameters, tool } = each
    const schema = { ...parameters, type: 'object' }
    return {
      name,
      ...(description === null ? {} : { description }),
      ...(strictly && isStrict(each) ? { strict: true, input_schema: closedSchema(schema) } : { input_schema: schema }),
      ...(isObject(tool.cache_control) ? { cache_control: tool.cache_control } : {}),
      ...toolMarks(tool),
    }
  })
  const single = parallel ? {} : { disable_parallel_tool_use: true }
  if (choice?.kind === 'none') return { tools, tool_choice: { type: 'none' } }
  if (choice?.kind === 'required') return { tools, tool_choice: { type: 'any', ...single } }
  if (choice?.kind === 'function') return { tools, tool_choice: { type: 'tool', name: choice.name, ...single } }
  return choice === null && parallel ? { tools } : { tools, tool_choice: { type: 'auto', ...single } }
}

/**
 * The format requires a definition of every tool called in the conversation, even when no tool may be called any more.
 */
function calledTools(messages: readonly unknown[]): WireObject {
  const calls = messages.flatMap((message) => arrayOf(objectOf(message).tool_calls))
  const names = new Set(calls.map((call) => textOf(objectOf(objectOf(call).function).name)))
  if (names.size === 0) return {}
  const tools = [...names].map((name) => ({ name, input_schema: { type: 'object' } }))
  return { tools, tool_choice: { type: 'none' } }
}
