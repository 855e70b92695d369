import type { WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from '../call/provider-port.ts'
import { sentCallId, sentThoughts } from './carried.ts'

/** A request as the body of a chat completion, with what providers want back. */
export const turnBody = (request: ModelRequest): ChatBody => {
  const { model, instructions = [], messages, tools, temperature, maxTokens, more } = request
  return {
    model,
    messages: [...instructions.map(systemMessage), ...messages.map(sentMessage)],
    ...(tools.length > 0 && { tools: tools.map(sentTool) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...more,
  }
}

/** Instructions as a message. */
export const systemMessage = (content: string): WireObject => ({ role: 'system', content })

const knownTools = new WeakMap<ModelTool, WireObject>()

/** A tool as OpenAI's form has it. */
export const sentTool = (tool: ModelTool): WireObject => {
  const known = knownTools.get(tool)
  if (known !== undefined) return known
  const { name, description, parameters } = tool
  const made = { type: 'function', function: { name, description, parameters } }
  knownTools.set(tool, made)
  return made
}

const knownMessages = new WeakMap<ModelMessage, WireObject>()

/** Messages are immutable: each is turned once in its life. */
const sentMessage = (message: ModelMessage): WireObject => {
  const known = knownMessages.get(message)
  if (known !== undefined) return known
  const thoughts = message.role === 'assistant' ? sentThoughts(message.toolCalls) : null
  const plain = plainMessage(message, sentCallId)
  const made = thoughts === null ? plain : { ...plain, thinking_blocks: thoughts }
  knownMessages.set(message, made)
  return made
}

/** A message as OpenAI's form has it. @param idOf under which id a call goes. */
export const plainMessage = (message: ModelMessage, idOf: (call: ModelToolCall) => string): WireObject => {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      return assistantMessage(message.content, message.toolCalls, idOf)
  }
}

const assistantMessage = (
  content: string,
  calls: readonly ModelToolCall[],
  idOf: (call: ModelToolCall) => string,
): WireObject => {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map((call) => ({
      id: idOf(call),
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  }
}
