import { type AttemptFailed, type ErrorAnswer, refused } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { hasTool } from './messages-service.ts'

/** What a company's cloud has of Anthropic's Messages API: it refuses a request with anything else. */
export interface MessagesCloud {
  /** Its name for the version of the API. */
  readonly version: string
  /** Anthropic's own tools by the beginning of their type, with the beta feature by which the cloud has one; null for none. */
  readonly tools: Readonly<Record<string, string | null>>
  /** Beta features of Anthropic's API, by the cloud's names for them. */
  readonly betas: Readonly<Record<string, string>>
  /** Fields that it does not have, in addition to those that no cloud has. */
  readonly without: readonly string[]
  /** Beginnings of the names of the tools whose calls and results in a history it reads; it refuses those of others. */
  readonly ran: readonly string[]
  /** Models that cache nothing there, and are refused with a mark; absent: none. */
  readonly uncached?: RegExp
}

/** Fields of requests to Anthropic that no cloud has: the path says the model, and a mark of the whole body is set in it. */
const onlyAnthropics = ['model', 'service_tier', 'container', 'inference_geo', 'speed', 'cache_control']

/** A Messages request in the form in which a cloud takes it. */
export const cloudBody = (request: WireObject, cloud: MessagesCloud): WireObject => {
  const left = [...onlyAnthropics, ...cloud.without, 'tools', 'tool_choice']
  const caches = cloud.uncached?.test(textOf(request.model)) !== true
  const fields = Object.entries(caches ? markedAtEnd(request) : request).filter(([name]) => !left.includes(name))
  const plain = fields.map(([name, value]) => [
    name,
    listed.has(name) ? withPlainMarks(name === 'messages' ? readable(value, cloud) : value, caches) : value,
  ])
  return { anthropic_version: cloud.version, ...Object.fromEntries(plain), ...toolsOf(request, cloud, caches) }
}

/** Blocks of what Anthropic itself has run: calls, and their results. */
const ranThere = /^(?:server_tool_use|mcp_tool_use|container_upload|\w+_tool_result)$/

/** Messages without the calls of Anthropic's tools that a cloud does not know, and without messages that had nothing else. */
const readable = (messages: unknown, { ran }: MessagesCloud): unknown => {
  const isRead = (block: unknown): boolean => {
    const { type, name } = objectOf(block)
    if (!ranThere.test(textOf(type))) return true
    const tool = type === 'server_tool_use' ? textOf(name) : textOf(type)
    return ran.some((start) => tool.startsWith(start))
  }
  return arrayOf(messages).flatMap((message) => {
    const { content } = objectOf(message)
    if (!Array.isArray(content) || content.every(isRead)) return [message]
    const left = content.filter(isRead)
    return left.length === 0 ? [] : [{ ...objectOf(message), content: left }]
  })
}

/** Names of the fields that are lists of blocks, or of messages. */
const listed: ReadonlySet<string> = new Set(['system', 'messages'])

/**
 * The beta features of a request that a cloud has, under its names for them, with those by which it has the tools of the
 * request: Anthropic itself has most of these tools without one.
 */
export const cloudBetas = (
  { tools, betas }: MessagesCloud,
  named: readonly string[],
  request: WireObject,
): readonly string[] => {
  const needed = arrayOf(request.tools).flatMap((tool) => {
    const type = textOf(objectOf(tool).type)
    return Object.entries(tools).flatMap(([start, beta]) => (beta !== null && type.startsWith(start) ? [beta] : []))
  })
  const known = named.flatMap((name) => (Object.hasOwn(betas, name) ? [textOf(betas[name])] : []))
  return [...new Set([...known, ...needed])]
}

const toolsOf = ({ tools, tool_choice }: WireObject, cloud: MessagesCloud, caches: boolean): WireObject => {
  const had = { tools: Object.keys(cloud.tools) }
  const kept = arrayOf(tools)
    .map(objectOf)
    .filter(({ type }) => isFunction(type) || hasTool(had, textOf(type)))
    // how soon the input is streamed, which both clouds refuse
    .map(({ eager_input_streaming: _eager, ...tool }) => plainMark(tool, caches))
  if (kept.length === 0) return {}
  return { tools: kept, ...(tool_choice !== undefined && { tool_choice }) }
}

const isFunction = (type: unknown): boolean => type === undefined || type === null || type === 'custom'

/** Maximum number of marks in a request; Anthropic refuses more. */
const maxMarks = 4

/**
 * Sets the mark of a whole request at its last block, where Anthropic sets it. Services that refuse such a mark cache by
 * those of blocks.
 */
export const markedAtEnd = ({ cache_control, ...request }: WireObject): WireObject => {
  const messages = arrayOf(request.messages).map(objectOf)
  const { system, tools } = request
  if (!isObject(cache_control) || marksIn([system, tools, ...messages.map(({ content }) => content)]) >= maxMarks)
    return request
  const last = messages.findLastIndex(({ content }) => arrayOf(content).some(isCacheable))
  if (last < 0) return request
  const content = arrayOf(messages[last]?.content)
  const at = content.findLastIndex(isCacheable)
  if (isMarked(content[at])) return request
  const marked = content.with(at, { ...objectOf(content[at]), cache_control })
  return { ...request, messages: messages.with(last, { ...messages[last], content: marked }) }
}

const isMarked = (block: unknown): boolean => isObject(objectOf(block).cache_control)

/** Thinking and empty texts cannot have a mark. */
const isCacheable = (block: unknown): boolean => {
  const { type, text } = objectOf(block)
  return !/^(?:redacted_)?thinking$/.test(textOf(type)) && (type !== 'text' || text !== '')
}

const marksIn = (lists: readonly unknown[]): number =>
  lists
    .flatMap(arrayOf)
    .reduce<number>((sum, block) => sum + (isMarked(block) ? 1 : 0) + marksIn([objectOf(block).content]), 0)

/** Removes from the mark of a block what clouds do not know, such as a scope, or the mark; the same object when there is nothing. */
const plainMark = (block: WireObject, caches: boolean): WireObject => {
  const { cache_control: mark, ...unmarked } = block
  if (!isObject(mark)) return block
  if (!caches) return unmarked
  if (Object.keys(mark).every((name) => name === 'type' || name === 'ttl')) return block
  const { type, ttl } = mark
  return { ...block, cache_control: { type, ...(ttl !== undefined && { ttl }) } }
}

/** The same for a list of blocks or messages, and what they contain. */
const withPlainMarks = (list: unknown, caches: boolean): unknown => {
  if (!Array.isArray(list)) return list
  return list.map((each: unknown) => {
    if (!isObject(each)) return each
    const plain = plainMark(each, caches)
    return Array.isArray(plain.content) ? { ...plain, content: withPlainMarks(plain.content, caches) } : plain
  })
}

/**
 * Maps the refusal of a count. Not every model is counted, and counting may need a permission of its own, which says
 * nothing about the key.
 */
export const countFailure =
  (failure: (answer: ErrorAnswer, now: number) => AttemptFailed) =>
  (answer: ErrorAnswer, now: number): AttemptFailed =>
    [400, 403, 404].includes(answer.status) ? uncounted() : failure(answer, now)

const uncounted = () => refused(new ModelError('model_not_found', 'The provider does not count tokens of this model.'))
