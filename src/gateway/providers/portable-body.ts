import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import { isStrictOpenAi, type Route } from '../call/routes.ts'
import { betasField } from './anthropic/anthropic-betas.ts'
import { ownBlockField, ownPartsField } from './anthropic/anthropic-citations.ts'
import { ownRequestField } from './anthropic/anthropic-request.ts'
import { ownToolsField, toolMarkFields } from './anthropic/anthropic-tools.ts'
import { googleField } from './google/google-request.ts'
import { isSigned, plainCallId } from './tool-call-id.ts'

/**
 * Fields that responses of other formats add to messages and that conversations send back. OpenAI itself rejects them.
 */
const foreignFields = ['reasoning_content', 'thinking_blocks', 'images', 'citations'] as const

/** Fields of a request that Anthropic's format has, and those of its messages, parts, calls and tools. */
const requestFields = ['thinking', 'top_k', 'cache_control', 'output_config'] as const
const markFields = ['cache_control', 'is_error', ...toolMarkFields] as const

/** Fields of this gateway with what only one format can express. */
const noOwnFields = {
  ...{ [ownToolsField]: undefined, [betasField]: undefined, [googleField]: undefined, [ownPartsField]: undefined },
  [ownRequestField]: undefined,
}

/**
 * Prepares a conversation for a server of OpenAI's format when another provider may have produced parts of it. Ids of
 * tool calls lose the signatures they carry, which exceed OpenAI's length limit. For OpenAI itself, fields of other
 * formats are removed too; compatible servers keep them, since some need them back, but for those of Anthropic's Messages
 * API in a request that was made for its format.
 *
 * @returns the same object when there is nothing to change, which is the usual case.
 */
export function portableBody(body: ChatBody, route: Pick<Route, 'baseUrl' | 'format'>): ChatBody {
  if (body[ownPartsField] !== undefined)
    return portableBody(
      { ...body, messages: arrayOf(body.messages).map(withPlainParts), [ownPartsField]: undefined },
      route,
    )
  const own = isStrictOpenAi(route)
  const isAnthropics = own || body[ownRequestField] !== undefined
  if (isAnthropics && hasMarks(body)) return portableBody(withoutMarks(body), route)
  if ([ownToolsField, betasField, googleField, ownRequestField].some((name) => body[name] !== undefined))
    return portableBody({ ...body, ...noOwnFields }, route)
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some((message) => isForeign(objectOf(message)))) return body
  return { ...body, messages: messages.map((message) => (isObject(message) ? portableMessage(message, own) : message)) }
}

const hasMarks = (body: ChatBody): boolean =>
  requestFields.some((field) => body[field] !== undefined) ||
  arrayOf(body.tools).some(isMarked) ||
  arrayOf(body.messages).some((message) => {
    const { content, tool_calls } = objectOf(message)
    return isMarked(message) || arrayOf(content).some(isMarked) || arrayOf(tool_calls).some(isMarked)
  })

const isMarked = (value: unknown): boolean => isObject(value) && markFields.some((field) => value[field] !== undefined)

const isMark = (field: string): boolean => markFields.some((each) => each === field)

const withoutMarks = ({ tools, messages, ...body }: ChatBody): ChatBody => ({
  ...body,
  ...Object.fromEntries(requestFields.map((field) => [field, undefined])),
  ...(tools !== undefined && { tools: unmarked(tools) }),
  messages: unmarked(messages),
})

/** Returns a list without the marks of its members, and of the parts and calls of its messages. */
const unmarked = (list: unknown): unknown => {
  if (!Array.isArray(list)) return list
  return list.map((each: unknown) => {
    if (!isObject(each)) return each
    const plain: WireObject = Object.fromEntries(Object.entries(each).filter(([field]) => !isMark(field)))
    const { content, tool_calls } = plain
    const parts = Array.isArray(content) && { content: unmarked(content) }
    return { ...plain, ...parts, ...(Array.isArray(tool_calls) && { tool_calls: unmarked(tool_calls) }) }
  })
}

/** The texts of parts that are blocks of another format; those without a text are only of that format. */
const withPlainParts = (message: unknown): unknown => {
  const { content } = objectOf(message)
  if (!Array.isArray(content)) return message
  const parts = content.flatMap((part: unknown) => {
    if (!isObject(part)) return [part]
    const { [ownBlockField]: block, citations: _citations, ...plain } = part
    return block !== undefined && plain.text === '' ? [] : [plain]
  })
  return { ...objectOf(message), content: parts.length === 0 ? null : parts }
}

const isForeign = (message: WireObject): boolean =>
  isSigned(message.tool_call_id) ||
  foreignFields.some((field) => message[field] !== undefined) ||
  (message.tool_calls !== undefined && arrayOf(message.tool_calls).some((call) => isSigned(objectOf(call).id)))

function portableMessage(message: WireObject, own: boolean): WireObject {
  const { tool_call_id, tool_calls } = message
  const kept = own ? Object.fromEntries(Object.entries(message).filter(([field]) => !isForeignField(field))) : message
  return {
    ...kept,
    ...(isSigned(tool_call_id) ? { tool_call_id: plainCallId(textOf(tool_call_id)) } : {}),
    ...(Array.isArray(tool_calls) ? { tool_calls: tool_calls.map(portableCall) } : {}),
  }
}

const isForeignField = (field: string): boolean => foreignFields.some((each) => each === field)

const portableCall = (call: unknown): unknown =>
  isObject(call) && isSigned(call.id) ? { ...call, id: plainCallId(textOf(call.id)) } : call
