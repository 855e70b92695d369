import type { WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from '../call/provider-port.ts'
import type { AppendOnlyHistory } from '../redaction/append-only-history.ts'
import { sentCallId, sentThoughts } from './carried.ts'

/** Converts a request to the body of a chat completion, including the data that providers require back. */
export const turnBody = (request: ModelRequest): ChatBody => new TurnBody(request)

/**
 * The messages are built lazily: a conversation is long, and the usual call uses its bytes instead (turn-bytes.ts).
 * They have to be an own property, since the object is spread; all bodies share the same getter.
 */
class TurnBody {
  readonly [field: string]: unknown
  readonly #request: ModelRequest
  #messages: readonly WireObject[] | undefined

  static readonly #messagesField = {
    enumerable: true,
    get(this: TurnBody) {
      this.#messages ??= messagesOf(this.#request)
      return this.#messages
    },
  }

  constructor(request: ModelRequest) {
    this.#request = request
    Object.assign(this, { model: request.model })
    Object.defineProperty(this, 'messages', TurnBody.#messagesField)
    Object.assign(this, moreOf(request))
  }
}

/** Returns the conversation of a request, which extends that of the turn before. */
export const turnHistory = (request: ModelRequest): AppendOnlyHistory => ({
  list: request.messages,
  at: (place) => {
    const message = request.messages[place]
    if (message === undefined) throw new Error('a conversation became shorter')
    return wireMessage(message)
  },
  rest: { model: request.model, messages: (request.instructions ?? []).map(systemMessage), ...moreOf(request) },
})

const moreOf = ({ tools, temperature, maxTokens, more }: ModelRequest): WireObject => ({
  ...(tools.length > 0 && { tools: tools.map(sentTool) }),
  ...(temperature !== undefined && { temperature }),
  ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  ...more,
})

const messagesOf = ({ instructions = [], messages }: ModelRequest): readonly WireObject[] => [
  ...instructions.map(systemMessage),
  ...messages.map(sentMessage),
]

/** Converts instructions to a message. */
export const systemMessage = (content: string): WireObject => ({ role: 'system', content })

const knownTools = new WeakMap<ModelTool, WireObject>()

/** Converts a tool to OpenAI's form. */
export const sentTool = (tool: ModelTool): WireObject => {
  const known = knownTools.get(tool)
  if (known !== undefined) return known
  const { name, description, parameters } = tool
  const made = { type: 'function', function: { name, description, parameters } }
  knownTools.set(tool, made)
  return made
}

const knownMessages = new WeakMap<ModelMessage, WireObject>()

/** Converts a message; cached, since messages are immutable. */
const sentMessage = (message: ModelMessage): WireObject => {
  const known = knownMessages.get(message)
  if (known !== undefined) return known
  const made = wireMessage(message)
  knownMessages.set(message, made)
  return made
}

const wireMessage = (message: ModelMessage): WireObject => {
  const thoughts = message.role === 'assistant' ? sentThoughts(message.toolCalls) : null
  const plain = plainMessage(message, sentCallId)
  return thoughts === null ? plain : { ...plain, thinking_blocks: thoughts }
}

/** Converts a message to OpenAI's form. @param idOf returns the id under which a call is sent. */
export const plainMessage = (message: ModelMessage, idOf: (call: ModelToolCall) => string): WireObject => {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: message.parts ?? message.content }
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
