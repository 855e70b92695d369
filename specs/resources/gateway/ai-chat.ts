import { publicKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { memoryBlock, memoryField } from '#specs/memory-field.ts'
import { answerFormat, chatPart, chatTool, chatToolCall, chatToolChoice, maybe } from './shapes/chat-shapes.ts'

const word = string({ minLength: 1, maxLength: 256 })

const message = object(
  {
    role: oneOf('system', 'developer', 'user', 'assistant', 'tool'),
    content: maybe(union([string(), array(chatPart)])),
    name: maybe(string({ maxLength: 256 })),
    toolCalls: maybe(array(chatToolCall, { maxItems: 128 })),
    tool_calls: maybe(array(chatToolCall, { maxItems: 128 })),
    toolCallId: maybe(string({ maxLength: 65_536 })),
    tool_call_id: maybe(string({ maxLength: 65_536 })),
  },
  { title: 'AiChatMessage', description: 'A message of a conversation.' },
)

const usage = object(
  {
    promptTokens: integer(),
    completionTokens: integer(),
    totalTokens: integer(),
    prompt_tokens: integer(),
    completion_tokens: integer(),
    total_tokens: integer(),
    costUsd,
    cost_usd: costUsd,
  },
  { title: 'AiChatUsage', description: 'Token counts of the call.' },
)

const toolCall = object(
  { id: string(), type: oneOf('function'), function: object({ name: string(), arguments: string() }) },
  { title: 'AiChatToolCall' },
)

const cited = {
  annotations: described(optional(array(object({}, { open: true }))), "Citations of pages, as in OpenAI's API."),
  citations: described(
    optional(array(object({}, { open: true }))),
    "Citations as in Anthropic's API, with their place in the text.",
  ),
}

/** A complete response, with both camelCase and snake_case fields. Costs are in USD, null when the price is unknown. */
const result = object(
  {
    ...cited,
    id: string(),
    content: string(),
    model: string(),
    provider: string(),
    finishReason: nullable(string()),
    finish_reason: nullable(string()),
    usage,
    toolCalls: nullable(array(toolCall)),
    tool_calls: nullable(array(toolCall)),
    costUsd: nullable(number()),
    cost_usd: nullable(number()),
    memory: optional(memoryBlock),
  },
  { title: 'AiChatResult', description: 'Answer of a model.' },
)

/** The data of each event of a streamed chat: parts of the text, then one event with everything else. */
const event = object(
  {
    ...cited,
    delta: optional(string()),
    usage: optional(usage),
    finish_reason: optional(nullable(string())),
    tool_calls: optional(nullable(array(toolCall))),
    memory: optional(memoryBlock),
    error: optional(string({ description: 'Code of the error that ended the stream.' })),
  },
  { title: 'AiChatEvent', description: 'An event of a streamed chat.', open: true },
)

const body = object(
  {
    model: word,
    models: maybe(described(array(word, { maxItems: 8 }), 'Fallback models, tried in order when `model` fails.')),
    messages: array(message, { minItems: 1, maxItems: 4096 }),
    temperature: maybe(number({ min: 0, max: 2 })),
    topP: maybe(number({ min: 0, max: 1 })),
    top_p: maybe(number({ min: 0, max: 1 })),
    maxTokens: maybe(integer({ min: 1 })),
    max_tokens: maybe(integer({ min: 1 })),
    stop: maybe(union([string(), array(string(), { maxItems: 16 })])),
    stream: maybe(boolean()),
    tools: maybe(array(chatTool(jsonObject(), 'OtherAiChatTool'), { maxItems: 128 })),
    toolChoice: maybe(chatToolChoice),
    tool_choice: maybe(chatToolChoice),
    responseFormat: maybe(answerFormat),
    response_format: maybe(answerFormat),
    userId: maybe(word),
    user_id: maybe(word),
    memory: maybe(memoryField),
  },
  { title: 'AiChatRequest' },
)

/** Chat in the gateway's own API. */
export const aiChat = defineOperations('ai_chat', {
  create: {
    summary: 'Chat with a model',
    description:
      'Returns one JSON document, or server-sent events with `stream: true`. When the conversation contains images and `model` cannot read them, a model that can is used instead.',
    method: 'POST',
    path: '/api/ai/chat',
    access: publicKeyOrDashboard,
    envelope: 'flat',
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    chatBodyBytes: 64 * 1024 * 1024,
    body,
    answer: answersEither(isJsonResponse(result), answersFrames(event)),
    errors: modelCallErrors,
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly aiChat: typeof aiChat
  }
}
