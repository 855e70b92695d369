import type { ModelMessage, ModelRequest, ModelTool } from './provider-port.ts'

/** What differs between OpenAI itself and servers that speak its wire format. */
export interface OpenAiDialect {
  /** OpenAI's newer models refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens'
  /** Whether a model takes `temperature`; reasoning models refuse it. */
  acceptsTemperature(model: string): boolean
}

const encodedTools = new WeakMap<ModelTool, string>()

/**
 * The JSON body of a streamed chat completion, as UTF-8.
 *
 * Messages are immutable and their list only grows, so each is encoded once in its life: a long history costs a copy of
 * its bytes.
 */
export function encodeChatRequest(request: ModelRequest, dialect: OpenAiDialect): Buffer {
  const history = encodedHistory(request.messages)
  const tail = tailOf(request, dialect)
  let head = `{"model":${JSON.stringify(request.model)},"stream":true,"stream_options":{"include_usage":true},"messages":[`
  const system = (request.instructions ?? []).map((content) => JSON.stringify({ role: 'system', content }))
  head += system.join(',') + (system.length > 0 && history.length > 0 ? ',' : '')
  const headLength = Buffer.byteLength(head)
  const body = Buffer.allocUnsafe(headLength + history.length + Buffer.byteLength(tail))
  body.write(head, 0)
  body.set(history, headLength)
  body.write(tail, headLength + history.length)
  return body
}

function tailOf(request: ModelRequest, dialect: OpenAiDialect): string {
  let tail = ']'
  if (request.tools.length > 0) tail += `,"tools":[${request.tools.map(encodeTool).join(',')}]`
  if (request.temperature !== undefined && dialect.acceptsTemperature(request.model)) {
    tail += `,"temperature":${JSON.stringify(request.temperature)}`
  }
  if (request.maxTokens !== undefined) tail += `,"${dialect.maxTokensField}":${JSON.stringify(request.maxTokens)}`
  return `${tail}}`
}

/** The messages of one list that are encoded already, joined by commas. */
interface EncodedHistory {
  count: number
  last: ModelMessage | undefined
  bytes: Buffer
  length: number
}

const histories = new WeakMap<readonly ModelMessage[], EncodedHistory>()

function encodedHistory(messages: readonly ModelMessage[]): Buffer {
  let known = histories.get(messages)
  if (known === undefined || messages[known.count - 1] !== known.last) {
    known = { count: 0, last: undefined, bytes: Buffer.alloc(0), length: 0 }
    histories.set(messages, known)
  }
  if (known.count < messages.length) append(known, messages)
  return known.bytes.subarray(0, known.length)
}

function append(known: EncodedHistory, messages: readonly ModelMessage[]): void {
  const fresh = messages.slice(known.count).map((message) => JSON.stringify(wireMessage(message)))
  const text = (known.count > 0 ? ',' : '') + fresh.join(',')
  const needed = known.length + Buffer.byteLength(text)
  if (needed > known.bytes.length) {
    // half as much again, so that a conversation that grows is not copied at each turn
    const grown = Buffer.allocUnsafe(Math.ceil(needed * 1.5))
    known.bytes.copy(grown, 0, 0, known.length)
    known.bytes = grown
  }
  known.length += known.bytes.write(text, known.length)
  known.count = messages.length
  known.last = messages.at(-1)
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
