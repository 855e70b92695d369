import { publicKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, boolean, integer, nullable, number, object, oneOf, optional, string, union } from '#specs/dsl/schema.ts'
import { memoryBlock, memoryField } from '#specs/memory-field.ts'
import {
  chatPart,
  chatResponseFormat,
  chatTool,
  chatToolCall,
  chatToolChoice,
  maybe,
  passedOnFields,
} from './shapes/chat-shapes.ts'
import { promptField } from './shapes/prompt-shapes.ts'

const model = string({ minLength: 1, maxLength: 256 })

/** A message. Undeclared fields are forwarded to the provider too. */
const message = object(
  {
    role: string({
      maxLength: 32,
      description: 'Role of the author, such as `system`, `developer`, `user`, `assistant` or `tool`.',
    }),
    content: maybe(union([string(), array(chatPart)])),
    name: maybe(string()),
    tool_calls: maybe(array(chatToolCall)),
    tool_call_id: maybe(string({ description: 'Id of the tool call whose output this message is.' })),
    refusal: maybe(string()),
  },
  { title: 'ChatMessage', description: 'A message of a conversation.', open: true },
)

/** Part of a message, as an event carries it. */
const delta = object(
  { role: optional(string()), content: optional(nullable(string())) },
  { title: 'ChatCompletionDelta', description: 'Part of a message, with the fields of the provider.', open: true },
)

/** Tokens of a completion, in OpenAI's format. */
const usage = object(
  { prompt_tokens: integer(), completion_tokens: integer(), total_tokens: integer(), cost_usd: costUsd },
  { title: 'ChatCompletionUsage', description: 'Token counts of the completion.', open: true },
)

const completion = object(
  {
    id: string(),
    object: oneOf('chat.completion'),
    created: integer(),
    model: string(),
    choices: array(
      object(
        {
          index: integer(),
          message: object({ role: oneOf('assistant'), content: nullable(string()) }, { open: true }),
          finish_reason: nullable(string()),
        },
        { open: true },
      ),
    ),
    usage: optional(usage),
    memory: optional(memoryBlock),
  },
  { title: 'ChatCompletion', description: "A chat completion in OpenAI's format.", open: true },
)

/** The data of each event of a streamed completion. */
const chunk = object(
  {
    id: string(),
    object: oneOf('chat.completion.chunk'),
    created: integer(),
    model: string(),
    choices: array(object({ index: integer(), delta, finish_reason: optional(nullable(string())) }, { open: true })),
    usage: optional(nullable(usage)),
  },
  {
    title: 'ChatCompletionChunk',
    description: "An event of a streamed chat completion in OpenAI's format.",
    open: true,
  },
)

/** OpenAI's chat completions. Only fields that the gateway reads are declared; others are forwarded to the provider. */
export const chatCompletions = defineOperations('chat_completions', {
  create: {
    summary: 'Create a chat completion',
    description:
      "Compatible with OpenAI's chat completions, for every model. Returns one JSON document, or server-sent events with `stream: true`. Fields that this reference does not list are forwarded to the provider. When `model` fails, the fallbacks in `models` are tried in order.",
    method: 'POST',
    path: '/v1/chat/completions',
    access: publicKeyOrDashboard,
    envelope: 'openai',
    attributed: true,
    unknownFields: 'ignore',
    idempotency: 'stored',
    fields: [{ field: 'prompt', by: ['secret_key', 'dashboard'] }],
    chatBodyBytes: 64 * 1024 * 1024,
    body: object({
      model,
      messages: array(message, { minItems: 1 }),
      models: optional(array(model, { maxItems: 8 })),
      stream: optional(nullable(boolean())),
      stream_options: optional(nullable(object({ include_usage: optional(nullable(boolean())) }, { open: true }))),
      temperature: optional(nullable(number({ min: 0, max: 2 }))),
      max_tokens: optional(nullable(integer({ min: 1 }))),
      max_completion_tokens: optional(nullable(integer({ min: 1 }))),
      n: optional(nullable(integer({ min: 1, max: 128 }))),
      tools: maybe(array(chatTool(object({ type: string({ maxLength: 64 }) }, { open: true }), 'OtherChatTool'))),
      tool_choice: maybe(chatToolChoice),
      response_format: maybe(chatResponseFormat),
      ...passedOnFields,
      memory: optional(nullable(memoryField)),
      prompt: maybe(promptField),
    }),
    answer: answersEither(isJsonResponse(completion), answersFrames(chunk)),
    errors: [
      'bad_request',
      'model_not_found',
      'context_length_exceeded',
      'content_policy_violation',
      'provider_not_configured',
      'provider_not_active',
      'request_loop',
      'rate_limit_exceeded',
      'budget_exceeded',
      'price_unknown',
      'credit_balance_exhausted',
      'provider_rate_limited',
      'provider_timeout',
      'provider_unavailable',
      'provider_error',
      'provider_stream_broken',
    ],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly chatCompletions: typeof chatCompletions
  }
}
