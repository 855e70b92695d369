import { responseItems, responseTool } from '#gateway/providers/response-items.ts'
import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { given } from '../chat-parts.ts'
import { searchToolName } from './response-tools.ts'

/** The field of a chat request that carries the search tool for OpenAI's own Responses, as its caller wrote it. */
export const searchToolField = 'web_search_tool'

/** The field of a chat request that carries OpenAI's other tools, as their caller wrote them. */
export const hostedToolsField = 'hosted_tools'

/**
 * A chat request in the words of OpenAI's Responses. Nothing is stored there: a key of the installation's is shared by
 * tenants, and conversations are kept here.
 */
export const upstreamRequest = (body: WireObject, model: string, stream: boolean): WireObject => {
  const search = body[searchToolField]
  const tools = [
    ...arrayOf(body.tools).map(responseTool),
    ...(isObject(search) ? [search] : []),
    ...arrayOf(body[hostedToolsField]),
  ]
  return given({
    model,
    stream,
    store: false,
    input: responseItems(body.messages),
    tools,
    tool_choice: choiceOf(body.tool_choice, body),
    parallel_tool_calls: body.parallel_tool_calls,
    max_output_tokens: body.max_completion_tokens ?? body.max_tokens,
    max_tool_calls: body.max_tool_calls,
    temperature: body.temperature,
    top_p: body.top_p,
    user: body.user,
    reasoning: body.reasoning_effort === undefined ? undefined : { effort: body.reasoning_effort },
    text: textOptions(body),
    include: isObject(search) ? ['web_search_call.action.sources'] : undefined,
  })
}

const choiceOf = (choice: unknown, { [searchToolField]: search, [hostedToolsField]: hosted }: WireObject): unknown => {
  if (!isObject(choice)) return choice
  const { name } = objectOf(choice.function)
  if (name === searchToolName && isObject(search)) return { type: search.type }
  const isHosted = arrayOf(hosted).some((tool) => objectOf(tool).type === name)
  return isHosted ? { type: name } : { type: 'function', name }
}

const textOptions = ({ response_format, verbosity }: WireObject): unknown => {
  const { type, json_schema } = objectOf(response_format)
  const format = type === undefined ? undefined : { type, ...objectOf(json_schema) }
  return format === undefined && verbosity === undefined ? undefined : given({ format, verbosity })
}
