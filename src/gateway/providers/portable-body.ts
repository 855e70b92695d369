import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { isOwnOpenAi } from '../routing/managed-providers.ts'
import { betasField } from './anthropic/anthropic-betas.ts'
import { ownToolsField } from './anthropic/anthropic-tools.ts'
import { isSigned, plainCallId } from './tool-call-id.ts'

/** What answers of other formats carry beside OpenAI's fields, and conversations bring back: OpenAI itself refuses them. */
const foreignFields = ['reasoning_content', 'thinking_blocks', 'images'] as const

/**
 * A conversation that another provider may have been part of, for a server of OpenAI's format: ids of tool calls without
 * the signatures that they carry, which are longer than OpenAI takes; and for OpenAI itself no fields of other formats.
 * Compatible servers get the fields: some want them back.
 *
 * @returns the same object when there is nothing to change, as nearly always.
 */
export function portableBody(body: ChatBody, { baseUrl }: Pick<Route, 'baseUrl'>): ChatBody {
  if (body[ownToolsField] !== undefined || body[betasField] !== undefined)
    return portableBody({ ...body, [ownToolsField]: undefined, [betasField]: undefined }, { baseUrl })
  const { messages } = body
  if (!Array.isArray(messages) || !messages.some((message) => isForeign(objectOf(message)))) return body
  const own = isOwnOpenAi(baseUrl)
  return { ...body, messages: messages.map((message) => (isObject(message) ? portableMessage(message, own) : message)) }
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
