import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { ownBlockField, ownPartsField } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { ownRequestField } from '#gateway/providers/anthropic/anthropic-request.ts'
import { ownToolsField, toolMarks } from '#gateway/providers/anthropic/anthropic-tools.ts'
import { hasTool, type MessagesParts, type ServiceField } from '#gateway/providers/anthropic/messages-service.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { given, invalid, needText } from '../chat-parts.ts'
import { chatTurns } from './chat-turns.ts'

type Body = BodyOf<'messages.create'>

/** Properties of the first route that determine how a request is converted. */
export interface RouteTraits {
  /**
   * What it has of Anthropic's API, where it has the model by that: then it also gets the fields that other formats cannot
   * express.
   */
  readonly service: MessagesParts | null
  /** Whether its model reasons, true when unknown: other models refuse `reasoning_effort`. */
  readonly reasons: boolean
}

/** A request in the form of chat completions. */
export interface MessageRequest {
  readonly body: ChatBody
  /** Types of the tools that were left out because the provider does not know them. */
  readonly ignored: readonly string[]
}

/**
 * Converts a request of Anthropic's Messages API to the form of chat completions.
 *
 * @throws {ServiceError} `missing_field`, `invalid_field`, `bad_request`
 */
export const messageRequestOf = (body: Body, { service, reasons }: RouteTraits): MessageRequest => {
  const own = service !== null
  if (body.mcp_servers?.length) {
    throw new ServiceError('bad_request', { param: 'mcp_servers', message: 'mcp_servers is not supported.' })
  }
  const lacks = (name: ServiceField) => service?.fields.includes(name) !== true
  for (const [param, message] of refusals)
    if (body[param] && body[param] !== 'global' && lacks(param))
      throw new ServiceError('bad_request', { param, message })
  const { functions: tools, ownTools, ignored } = toolsOf(body, service)
  const hasTools = tools.length > 0 || ownTools.length > 0
  const messages = chatTurns(body.system, body.messages, own)
  const request = given({
    model: body.model,
    messages,
    max_tokens: body.max_tokens,
    stop: body.stop_sequences?.length ? body.stop_sequences : undefined,
    temperature: body.temperature,
    top_p: body.top_p,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: hasTools ? choiceOf(body.tool_choice) : undefined,
    parallel_tool_calls: hasTools && body.tool_choice?.disable_parallel_tool_use ? false : undefined,
    response_format: formatOf(body.output_config?.format),
    reasoning_effort: reasons && !own ? effortOf(body.output_config?.effort) : undefined,
    ...(service && ownFields(body, service)),
    [ownToolsField]: ownTools.length > 0 ? ownTools : undefined,
    [ownPartsField]: messages.some(hasOwnParts) ? true : undefined,
  })
  const dropped = droppable.filter((name) => body[name] && body[name] !== 'standard' && lacks(name))
  return { body: request, ignored: [...ignored, ...dropped] }
}

/** Fields without which an answer would not be what the caller requested, where the provider does not have them. */
const refusals: readonly (readonly [name: ServiceField, message: string])[] = [
  ['container', 'The provider of this model has no containers.'],
  ['inference_geo', 'The provider of this model is not bound to a place by a request.'],
]

/** Fields that are left out where the provider does not have them. */
const droppable: readonly ServiceField[] = ['context_management', 'speed']

const hasOwnParts = ({ content }: WireObject): boolean =>
  arrayOf(content).some((part) => isObject(part) && (part[ownBlockField] !== undefined || part.citations !== undefined))

/** The tools of a request, by who can use them. */
interface MessageTools {
  readonly functions: readonly WireObject[]
  /** Anthropic's own tools, as they were sent. */
  readonly ownTools: readonly WireObject[]
  /** Types of the tools that the provider of the call does not know. */
  readonly ignored: readonly string[]
}

const toolsOf = (body: Body, service: MessagesParts | null): MessageTools => {
  const functions: WireObject[] = []
  const ownTools: WireObject[] = []
  const foreign: WireObject[] = []
  for (const [at, tool] of (body.tools ?? []).entries()) {
    const path = `tools[${at}]`
    if (isFunction(tool)) functions.push(toolOf(tool, path, service !== null))
    else {
      const type = needText(tool.type, `${path}.type`)
      const known = service !== null && hasTool(service, type)
      ;(known ? ownTools : foreign).push({ ...tool, type })
    }
  }
  refuseForced(body, foreign)
  return { functions, ownTools, ignored: foreign.map(({ type }) => textOf(type)) }
}

/** Refuses a forced choice of an unknown tool: leaving the tool out would change the meaning of the request. */
const refuseForced = ({ tool_choice }: Body, foreign: readonly WireObject[]): void => {
  if (tool_choice?.type !== 'tool' || !foreign.some(({ name }) => name === tool_choice.name)) return
  const message = `The provider of this model has no tool ${tool_choice.name}.`
  throw new ServiceError('bad_request', { param: 'tool_choice', message })
}

const isFunction = ({ type }: WireObject): boolean => type === undefined || type === null || type === 'custom'

/** Other providers have no effort above `high`. */
const effortOf = (effort: string | null | undefined): string | undefined =>
  effort === 'max' ? 'high' : (effort ?? undefined)

/** Fields that other formats cannot express, or that other servers refuse. */
const ownFields = (body: Body, { fields }: MessagesParts): WireObject => {
  const { top_k, thinking, cache_control, metadata, service_tier, output_config } = body
  const only = fields.map((name) => [name, body[name]]).filter(([, value]) => value !== null && value !== undefined)
  return {
    ...{ top_k, thinking, cache_control },
    output_config: output_config?.effort ? { effort: output_config.effort } : undefined,
    user: metadata?.user_id ?? undefined,
    service_tier: service_tier === 'standard_only' ? 'default' : (service_tier ?? undefined),
    [ownRequestField]: Object.fromEntries(only),
  }
}

const toolOf = (tool: WireObject, path: string, own: boolean): WireObject => {
  const { description, input_schema: parameters, strict } = tool
  if (!isObject(parameters)) throw invalid(`${path}.input_schema`, 'must be object')
  const name = needText(tool.name, `${path}.name`)
  const mark = own && isObject(tool.cache_control) ? { cache_control: tool.cache_control } : {}
  const marks = own ? { ...mark, ...toolMarks(tool) } : mark
  return { type: 'function', function: given({ name, description, parameters, strict }), ...marks }
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
