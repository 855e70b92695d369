import { anyKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  integer,
  json,
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
import { maybe } from './shapes/chat-shapes.ts'
import {
  messageBlock,
  messageTool,
  outputFormat,
  requestCacheControl,
  systemBlock,
  thinking,
} from './shapes/message-shapes.ts'

const word = string({ minLength: 1, maxLength: 256 })

const conversation = {
  model: word,
  messages: array(
    object(
      { role: oneOf('user', 'assistant', 'system'), content: union([string(), array(messageBlock)]) },
      { title: 'MessageTurn', description: 'A message of the conversation.' },
    ),
    {
      minItems: 1,
      maxItems: 8192,
    },
  ),
  system: maybe(union([string(), array(systemBlock)])),
  tools: maybe(array(messageTool, { maxItems: 128 })),
  tool_choice: maybe(
    object({
      type: oneOf('auto', 'any', 'tool', 'none'),
      name: optional(word),
      disable_parallel_tool_use: maybe(boolean()),
    }),
  ),
  thinking: maybe(thinking),
}

const body = object(
  {
    ...conversation,
    thread: described(
      maybe(object({ type: oneOf('create', 'continue'), previous_message_id: optional(word) })),
      'Thread that stores the messages on the server. To continue it, send the `id` of its latest message and only the new messages.',
    ),
    max_tokens: integer({ min: 1 }),
    stop_sequences: maybe(array(string(), { maxItems: 16 })),
    stream: maybe(boolean()),
    temperature: maybe(number({ min: 0, max: 1 })),
    top_p: maybe(number({ min: 0, max: 1 })),
    top_k: maybe(integer({ min: 0 })),
    cache_control: maybe(requestCacheControl),
    mcp_servers: described(
      maybe(array(jsonObject(), { maxItems: 64 })),
      'Not supported. A request that sets it is refused with `bad_request`.',
    ),
    container: described(
      maybe(union([string({ maxLength: 256 }), jsonObject()])),
      'Container of Anthropic for code execution and skills. For models of other providers it is refused with `bad_request`.',
    ),
    context_management: described(
      maybe(jsonObject()),
      'What Anthropic, or Vertex AI or Amazon Bedrock for Claude, removes from a long conversation. Other providers get the whole conversation, and `X-Ignored-Tools` lists `context_management`.',
    ),
    inference_geo: described(
      maybe(string({ pattern: '^[a-z]{2,16}$' })),
      'Where Anthropic runs the model: `us`, at a higher price, or `global`. No other provider serves such a request, also as a fallback: for their models, all but `global` is refused with `bad_request`.',
    ),
    speed: described(
      maybe(oneOf('standard', 'fast')),
      "Speed of Anthropic's fast mode, at a higher price. Other providers answer at their own, and `X-Ignored-Tools` lists `speed`.",
    ),
    metadata: maybe(object({ user_id: maybe(string({ maxLength: 256 })) })),
    service_tier: maybe(oneOf('auto', 'standard_only')),
    output_config: maybe(object({ effort: maybe(word), format: maybe(outputFormat) })),
    memory: described(
      maybe(memoryField),
      'Memory of the end user identified by `userId` or `metadata.user_id`. For a stream, response headers report what was read.',
    ),
  },
  { title: 'MessageRequest', description: "A request of Anthropic's Messages API." },
)

const usage = object(
  {
    input_tokens: integer(),
    output_tokens: integer(),
    cache_read_input_tokens: nullable(integer()),
    cache_creation_input_tokens: nullable(integer()),
    cost_usd: costUsd,
  },
  { title: 'MessageUsage', description: 'Token counts of the message.', open: true },
)

/** Anthropic's Message document. */
const message = object(
  {
    id: string(),
    type: oneOf('message'),
    role: oneOf('assistant'),
    model: string(),
    content: array(object({ type: string() }, { title: 'MessageBlock', open: true })),
    stop_reason: nullable(string()),
    stop_sequence: nullable(string()),
    stop_details: nullable(json()),
    container: nullable(json()),
    diagnostics: nullable(json()),
    usage,
    memory: optional(memoryBlock),
  },
  { title: 'Message', description: "A message in the format of Anthropic's Messages API." },
)

/** The data of each event of a streamed message. */
const event = object(
  { type: string({ description: 'Type of the event, such as `content_block_delta`, and its name in the stream.' }) },
  { title: 'MessageStreamEvent', description: "An event of a message in the format of Anthropic's API.", open: true },
)

/** Anthropic's Messages API, for every model. */
export const messages = defineOperations('messages', {
  create: {
    summary: 'Create a message',
    description:
      "Compatible with Anthropic's Messages API, for every model. Returns one JSON document, or server-sent events with `stream: true`. Claude models are called by this API at Anthropic, Vertex AI and Amazon Bedrock. Anthropic's server tools are forwarded where the provider has them and dropped for others; the response header `X-Ignored-Tools` lists the types that were dropped, and `context_management` and `speed`.",
    method: 'POST',
    path: '/v1/messages',
    access: anyKeyOrDashboard,
    envelope: 'anthropic',
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    chatBodyBytes: 64 * 1024 * 1024,
    body,
    answer: answersEither(isJsonResponse(message), answersFrames(event)),
    errors: [...modelCallErrors, 'not_found'],
  },
  count_tokens: {
    summary: 'Count the tokens of a message',
    description:
      "Compatible with Anthropic's count. For models that are called through Anthropic's API, also at Vertex AI and Amazon Bedrock, the provider counts, except where it does not count for a model; for all others the count is estimated from the length. The response header `X-Token-Count` is `provider` or `estimate` accordingly.",
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: anyKeyOrDashboard,
    envelope: 'anthropic',
    unknownFields: 'ignore',
    idempotency: 'ignored',
    chatBodyBytes: 64 * 1024 * 1024,
    body: object(conversation, { title: 'MessageCountRequest' }),
    attributed: true,
    answer: answersEither(isJsonResponse(object({ input_tokens: integer() }))),
    errors: modelCallErrors,
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly messages: typeof messages
  }
}
