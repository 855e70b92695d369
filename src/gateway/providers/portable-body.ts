import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import { isStrictOpenAi, type Route } from '../call/routes.ts'
import { betasField } from './anthropic/anthropic-betas.ts'
import { ownBlockField, ownPartsField } from './anthropic/anthropic-citations.ts'
import { ownRequestField } from './anthropic/anthropic-request.ts'
import { ownToolsField } from './anthropic/anthropic-tools.ts'
import { googleField } from './google/google-request.ts'
import { isSigned, plainCallId } from './tool-call-id.ts'

/**
 * Fields that responses of other formats add to messages and that conversations send back. OpenAI itself rejects them.
 */
const foreignFields = ['reasoning_content', 'thinking_blocks', 'images', 'citations'] as const

/** Fields of this gateway with what only one format can express. */
const noOwnFields = {
  ...{ [ownToolsField]: undefined, [betasField]: undefined, [googleField]: undefined, [ownPartsField]: undefined },
  [ownRequestField]: undefined,
}

/**
 * Prepares a conversation for a server of OpenAI's format when another provider may have produced parts of it. Ids of
 * tool calls lose the signatures they carry, which exceed OpenAI's length limit. For OpenAI itself, fields of other
 * formats are removed too; compatible servers keep them, since some need them back.
 *
 * @returns the same object when there is nothing to change, which is the usual case.
 */
export function portableBody(body: ChatBody, route: Pick<Route, 'baseUrl' | 'format'>): ChatBody {
  if (body[ownPartsField] !== undefined)
    return portableBody(
      { ...body, messages: arrayOf(body.messages).map(withPlainParts), [ownPartsField]: undefined },
      route,
    )
  if ([ownToolsField, betasField, googleField, ownRequestField].some((name) => body[name] !== undefined))
    return portableBody({ ...body, ...noOwnFields }, route)
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some((message) => isForeign(objectOf(message)))) return body
  const own = isStrictOpenAi(route)
  return { ...body, messages: messages.map((message) => (isObject(message) ? portableMessage(message, own) : message)) }
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
