import { responseItems, responseTool } from '#gateway/providers/response-items.ts'
import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { given } from '../chat-parts.ts'
import { searchToolName } from './response-tools.ts'

/** Field of a chat request that carries the web search tool for OpenAI's Responses API, as the caller sent it. */
export const searchToolField = 'web_search_tool'

/** Field of a chat request that carries OpenAI's other hosted tools, as the caller sent them. */
export const hostedToolsField = 'hosted_tools'

/**
 * Converts a chat request to one of OpenAI's Responses API. It is sent with `store: false`: tenants share the keys of
 * the installation, and conversations are stored on this server.
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
    ...sharedFields(body),
    reasoning: body.reasoning_effort === undefined ? undefined : { effort: body.reasoning_effort },
    text: textOptions(body),
    include: isObject(search) ? ['web_search_call.action.sources'] : undefined,
  })
}

/** Returns the fields that a chat and a response have under one name and that say nothing about the answer. */
export const sharedFields = (request: WireObject): WireObject => {
  const { user, safety_identifier, service_tier, prompt_cache_key, prompt_cache_retention } = request
  return given({ user, safety_identifier, service_tier, prompt_cache_key, prompt_cache_retention })
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
