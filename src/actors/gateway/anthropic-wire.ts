import type Anthropic from '@anthropic-ai/sdk'
import { systemText, turnsOf } from './dialogue.ts'
import { priceOf } from './prices.ts'
import { allMessages, type ModelMessage, type ModelRequest, type ModelTool } from './provider-port.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf } from './wire.ts'

type Block = Anthropic.ContentBlockParam

/** Ours, for requests that name none: the format wants one, and models refuse more than they can write. */
const defaultMaxTokens = 32_000
const smallestMaxTokens = 4_096
const opaquePrefix = 'anthropic:'

/**
 * A request in Anthropic's words. `temperature` is left out: the version of the format that the SDK speaks refuses it.
 */
export function anthropicRequest(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
  const messages = allMessages(request)
  const system = systemText(messages)
  const known = priceOf(request.model)?.max_output ?? smallestMaxTokens
  return {
    model: request.model,
    max_tokens: request.maxTokens ?? Math.min(known, defaultMaxTokens),
    stream: true,
    messages: turnsOf(messages, blocksOf).map(({ side, blocks }) => ({ role: side, content: blocks })),
    ...(system === '' ? {} : { system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
  }
}

/** Reasoning blocks of an answer, packed to be given back with its first tool call. */
export const packReasoning = (blocks: readonly object[]): string => opaquePrefix + JSON.stringify(blocks)

function blocksOf(message: ModelMessage): Block[] {
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.callId, content: message.content }]
  }
  const text: Block[] = message.content === '' ? [] : [{ type: 'text', text: message.content }]
  if (message.role !== 'assistant') return text
  const calls = message.toolCalls.map(
    (call): Block => ({ type: 'tool_use', id: call.callId, name: call.name, input: inputOf(call.arguments) }),
  )
  return [...reasoningOf(message.toolCalls[0]?.opaque), ...text, ...calls]
}

function reasoningOf(opaque: string | undefined): Block[] {
  if (opaque === undefined || !opaque.startsWith(opaquePrefix)) return []
  return arrayOf(parseJson(opaque.slice(opaquePrefix.length))).flatMap((block): Block[] => {
    const { type, thinking, signature, data } = objectOf(block)
    if (type === 'redacted_thinking') return [{ type, data: textOf(data) }]
    return type === 'thinking' ? [{ type, thinking: textOf(thinking), signature: textOf(signature) }] : []
  })
}

/** The format takes objects only; what the model wrote wrongly is shown to it as it was. */
function inputOf(text: string): object {
  const parsed = parseJson(text)
  return isObject(parsed) ? parsed : { malformed_arguments: text }
}

const toolOf = (tool: ModelTool): Anthropic.Tool => ({
  name: tool.name,
  description: tool.description,
  input_schema: { ...tool.parameters, type: 'object' },
})
