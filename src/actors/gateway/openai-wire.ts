import type { ModelMessage, ModelRequest, ModelTool } from './provider-port.ts'

/** What differs between OpenAI itself and servers that speak its wire format. */
export interface OpenAiDialect {
  /** OpenAI's newer models refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens'
  /** Whether a model takes `temperature`; reasoning models refuse it. */
  acceptsTemperature(model: string): boolean
}

const encodedMessages = new WeakMap<ModelMessage, string>()
const encodedTools = new WeakMap<ModelTool, string>()

/**
 * The JSON body of a streamed chat completion.
 *
 * Messages are immutable, so each is encoded once in its life: a long history costs a join, not a stringify.
 */
export function encodeChatRequest(request: ModelRequest, dialect: OpenAiDialect): string {
  let body = `{"model":${JSON.stringify(request.model)},"stream":true,"stream_options":{"include_usage":true},"messages":[`
  for (let i = 0; i < request.messages.length; i++) {
    const message = request.messages[i]
    if (message !== undefined) body += (i === 0 ? '' : ',') + encodeMessage(message)
  }
  body += ']'
  if (request.tools.length > 0) body += `,"tools":[${request.tools.map(encodeTool).join(',')}]`
  if (request.temperature !== undefined && dialect.acceptsTemperature(request.model)) {
    body += `,"temperature":${JSON.stringify(request.temperature)}`
  }
  if (request.maxTokens !== undefined) body += `,"${dialect.maxTokensField}":${JSON.stringify(request.maxTokens)}`
  return `${body}}`
}

function encodeMessage(message: ModelMessage): string {
  const known = encodedMessages.get(message)
  if (known !== undefined) return known
  const encoded = JSON.stringify(wireMessage(message))
  encodedMessages.set(message, encoded)
  return encoded
}

function encodeTool(tool: ModelTool): string {
  const known = encodedTools.get(tool)
  if (known !== undefined) return known
  const { name, description, parameters } = tool
  const encoded = JSON.stringify({ type: 'function', function: { name, description, parameters } })
  encodedTools.set(tool, encoded)
  return encoded
}

function wireMessage(message: ModelMessage): object {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      return wireAssistant(message.content, message.toolCalls)
  }
}

function wireAssistant(content: string, calls: Extract<ModelMessage, { role: 'assistant' }>['toolCalls']): object {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  }
}
