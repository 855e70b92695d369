import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { given, invalid, needText } from '../chat-parts.ts'
import { chatTurns } from './chat-turns.ts'

type Body = BodyOf<'messages.create'>

/** Who is asked first. */
export interface RouteTraits {
  /** Its format is Anthropic's: it also gets what has no words elsewhere. */
  readonly own: boolean
  /** Its model thinks, as far as anybody knows: others refuse to be told how much. */
  readonly reasons: boolean
}

/**
 * A request of Anthropic's Messages in the words of chat completions.
 *
 * @throws {ServiceError} `missing_field`, `invalid_field`, `bad_request`
 */
export const messageRequestOf = (body: Body, { own, reasons }: RouteTraits): ChatBody => {
  if (body.mcp_servers?.length) {
    throw new ServiceError('bad_request', { param: 'mcp_servers', message: 'Servers of tools are not asked here.' })
  }
  const tools = (body.tools ?? []).map((tool, at) => toolOf(tool, `tools[${at}]`, own))
  return given({
    model: body.model,
    messages: chatTurns(body.system, body.messages, own),
    max_tokens: body.max_tokens,
    stop: body.stop_sequences?.length ? body.stop_sequences : undefined,
    temperature: body.temperature,
    top_p: body.top_p,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? choiceOf(body.tool_choice) : undefined,
    parallel_tool_calls: tools.length > 0 && body.tool_choice?.disable_parallel_tool_use ? false : undefined,
    response_format: formatOf(body.output_config?.format),
    reasoning_effort: reasons && !own ? effortOf(body.output_config?.effort) : undefined,
    ...(own && ownFields(body)),
  })
}

/** Nobody else has a word for more than they call high. */
const effortOf = (effort: string | null | undefined): string | undefined =>
  effort === 'max' ? 'high' : (effort ?? undefined)

/** What other formats have no words for, or other servers refuse. */
const ownFields = ({ top_k, thinking, cache_control, metadata, service_tier, output_config }: Body): WireObject => ({
  ...{ top_k, thinking, cache_control },
  output_config: output_config?.effort ? { effort: output_config.effort } : undefined,
  user: metadata?.user_id ?? undefined,
  service_tier: service_tier === 'standard_only' ? 'default' : (service_tier ?? undefined),
})

const toolOf = (tool: WireObject, path: string, own: boolean): WireObject => {
  if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
    throw new ServiceError('bad_request', { param: `${path}.type`, message: `${path}.type is not offered here.` })
  }
  const { description, input_schema: parameters, strict } = tool
  if (!isObject(parameters)) throw invalid(`${path}.input_schema`, 'must be object')
  const name = needText(tool.name, `${path}.name`)
  const mark = own && isObject(tool.cache_control) ? { cache_control: tool.cache_control } : {}
  return { type: 'function', function: given({ name, description, parameters, strict }), ...mark }
}

const choices: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' }

const choiceOf = (choice: Body['tool_choice']): unknown => {
  if (choice === undefined || choice === null) return undefined
  if (choice.type !== 'tool') return choices[choice.type]
  return { type: 'function', function: { name: needText(choice.name, 'tool_choice.name') } }
}

const formatOf = (format: WireObject | null | undefined): unknown => {
  if (format === undefined || format === null) return undefined
  const { type, schema } = format
  if (textOf(type) !== 'json_schema' || !isObject(schema)) {
    throw invalid('output_config.format', 'must have type json_schema and a schema')
  }
  return { type: 'json_schema', json_schema: { name: 'answer', schema: objectOf(schema), strict: true } }
}
