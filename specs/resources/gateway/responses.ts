import { anyKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  constant,
  described,
  integer,
  json,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { memoryBlock, memoryField } from '#specs/memory-field.ts'
import { statuses } from '#specs/statuses.ts'
import { maybe } from './shapes/chat-shapes.ts'
import { promptField } from './shapes/prompt-shapes.ts'
import { responseInputItem, responseTextFormat, responseTool, responseToolChoice } from './shapes/response-shapes.ts'

const path = '/v1/responses'
const one = '/v1/responses/{response_id}'

const word = string({ minLength: 1, maxLength: 256 })
const itemsMax = 8192

/** The conversation that a request continues. */
const conversation = described(
  maybe(union([word, object({ id: word })])),
  'Id of the conversation that the request continues. The input and output of the request are added to it. Cannot be combined with `previous_response_id`.',
)

const input = described(
  maybe(union([string(), array(responseInputItem, { maxItems: itemsMax })])),
  'Text or items of the input. Optional with `previous_response_id` or `conversation`.',
)

const body = object(
  {
    model: described(maybe(word), 'Required, unless `prompt` names a version with a model.'),
    models: maybe(described(array(word, { maxItems: 8 }), 'Fallback models, tried in order when `model` fails.')),
    input,
    instructions: maybe(string()),
    previous_response_id: described(maybe(word), 'Stored response that the conversation continues.'),
    store: described(maybe(boolean()), 'Whether the response is stored, for 30 days. Default: true.'),
    stream: maybe(boolean()),
    tools: described(
      maybe(array(responseTool, { maxItems: 128 })),
      'Functions and custom tools that you run; `web_search`; `file_search`, with ids of knowledge bases or vector stores in `vector_store_ids`; and `mcp`, a remote tool server given by the `server_label` of a registered server or by `server_url`.',
    ),
    tool_choice: maybe(responseToolChoice),
    include: described(
      maybe(array(word, { maxItems: 16 })),
      'Additional data to return. `file_search_call.results` is supported; other values have no effect.',
    ),
    parallel_tool_calls: maybe(boolean()),
    max_tool_calls: maybe(integer({ min: 1 })),
    max_output_tokens: maybe(integer({ min: 1 })),
    text: maybe(object({ format: maybe(responseTextFormat), verbosity: maybe(oneOf('low', 'medium', 'high')) })),
    reasoning: maybe(object({ effort: maybe(word), summary: maybe(word) })),
    temperature: maybe(number({ min: 0, max: 2 })),
    top_p: maybe(number({ min: 0, max: 1 })),
    truncation: maybe(oneOf('auto', 'disabled')),
    metadata: maybe(record(string({ maxLength: 512 }), { maxProperties: 16 })),
    user: maybe(string({ maxLength: 256 })),
    safety_identifier: maybe(string({ maxLength: 256 })),
    service_tier: maybe(word),
    prompt_cache_key: maybe(string({ maxLength: 256 })),
    prompt_cache_retention: maybe(word),
    memory: described(
      maybe(memoryField),
      'Memory of an end user. `memory` of the response reports what was read and the receipt of the write; headers do so too. It is not stored with the response.',
    ),
    background: described(
      maybe(boolean()),
      'Whether to create the response in the background. It starts as `queued`; poll it with `responses.get`. A background response is always stored and cannot use `memory`.',
    ),
    conversation,
    prompt: maybe(promptField),
  },
  { title: 'ResponseRequest', description: "A request of OpenAI's Responses API." },
)

const usage = object(
  {
    input_tokens: integer(),
    input_tokens_details: object({ cached_tokens: integer(), cache_write_tokens: integer() }, { open: true }),
    output_tokens: integer(),
    output_tokens_details: object({ reasoning_tokens: integer() }, { open: true }),
    total_tokens: integer(),
    cost_usd: costUsd,
  },
  { title: 'ResponseUsage', open: true },
)

/** An item of a response: a message, a tool call, a web search, reasoning. */
const item = object(
  { id: string(), type: string() },
  { title: 'ResponseItem', description: 'A message, a tool call, a web search or reasoning.', open: true },
)

/** A response in the format of OpenAI's Responses API. Further fields of OpenAI's own responses are passed on. */
const response = object(
  {
    id: string(),
    object: oneOf('response'),
    created_at: number(),
    completed_at: optional(nullable(number())),
    status: oneOf(...statuses.response),
    background: optional(nullable(boolean())),
    error: nullable(object({ code: string(), message: string() }, { open: true })),
    conversation: optional(nullable(object({ id: string() }))),
    incomplete_details: nullable(object({ reason: string() }, { open: true })),
    instructions: nullable(json()),
    max_output_tokens: optional(nullable(integer())),
    max_tool_calls: optional(nullable(integer())),
    memory: optional(memoryBlock),
    metadata: nullable(jsonObject()),
    model: string(),
    output: array(item),
    parallel_tool_calls: boolean(),
    previous_response_id: optional(nullable(string())),
    prompt: optional(nullable(promptField)),
    reasoning: optional(nullable(jsonObject())),
    store: optional(boolean()),
    temperature: nullable(number()),
    text: optional(jsonObject()),
    tool_choice: json(),
    tools: array(jsonObject()),
    top_p: nullable(number()),
    truncation: optional(nullable(string())),
    usage: optional(nullable(usage)),
  },
  { title: 'ModelResponse', description: "A response in the format of OpenAI's Responses API.", open: true },
)

/** The data of each event of a streamed response. */
const event = object(
  {
    type: string({
      description: 'Type of the event, such as `response.output_text.delta`, and its name in the stream.',
    }),
    sequence_number: optional(integer()),
    delta: optional(string()),
    response: optional(response),
  },
  { title: 'ModelResponseEvent', description: "An event of a response in the format of OpenAI's API.", open: true },
)

const itemList = object(
  {
    object: oneOf('list'),
    data: array(item),
    first_id: nullable(string()),
    last_id: nullable(string()),
    has_more: boolean(),
  },
  { title: 'ModelResponseInputItems' },
)

/** OpenAI's Responses API. Responses are stored for 30 days (specs/decisions/0082-chat-forms.md). */
export const responses = defineOperations('responses', {
  create: {
    summary: 'Create a response',
    description:
      "Compatible with OpenAI's Responses API, for every model. Returns one JSON document, or server-sent events with `stream: true`. Supports function calls, custom tools, web search, knowledge base search (`file_search`), remote tool servers (`mcp`, with approvals as items) and `previous_response_id`. Built-in tools that neither the server nor the provider can run are dropped; the response header `X-Ignored-Tools` lists their types.",
    method: 'POST',
    path,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    // a stored response must fit into one document of the store
    chatBodyBytes: 12 * 1024 * 1024,
    // its version can name a model that other credentials do not reach
    fields: [{ field: 'prompt', by: ['secret_key', 'dashboard'] }],
    body,
    answer: answersEither(isJsonResponse(response), answersFrames(event)),
    errors: [...modelCallErrors, 'not_found'],
  },
  get: {
    summary: 'Retrieve a stored response',
    method: 'GET',
    path: one,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    description:
      'With `stream: true`, the response is sent as server-sent events: those of a background response as they were made, and while it is in progress as they are made, those of any other with one delta per part.',
    passedOver: ['include', 'include[]', 'include_obfuscation'],
    query: {
      stream: optional(boolean()),
      starting_after: described(
        optional(integer({ min: 0 })),
        'Sequence number of an event. The stream starts after it.',
      ),
    },
    answer: answersEither(isJsonResponse(response), answersFrames(event)),
  },
  cancel: {
    summary: 'Cancel a background response',
    description: 'A response that has already ended is returned unchanged.',
    method: 'POST',
    path: `${one}/cancel`,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    idempotency: 'ignored',
    answer: isJsonResponse(response),
    errors: ['bad_request'],
  },
  input_tokens: {
    summary: 'Count the input tokens of a response',
    description:
      'Returns an estimate based on the length of the text, accurate to about 20 % for English, with the header `X-Token-Count: estimate`.',
    method: 'POST',
    path: `${path}/input_tokens`,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    unknownFields: 'ignore',
    idempotency: 'ignored',
    attributed: true,
    chatBodyBytes: 12 * 1024 * 1024,
    body: object(
      {
        model: maybe(word),
        ...{ input, conversation },
        instructions: maybe(string()),
        previous_response_id: maybe(word),
        tools: maybe(array(responseTool, { maxItems: 128 })),
        tool_choice: maybe(responseToolChoice),
        text: maybe(object({ format: maybe(responseTextFormat), verbosity: maybe(oneOf('low', 'medium', 'high')) })),
      },
      { title: 'ResponseTokensRequest' },
    ),
    answer: answersEither(
      isJsonResponse(
        object({ object: oneOf('response.input_tokens'), input_tokens: integer() }, { title: 'ResponseTokens' }),
      ),
    ),
    errors: ['bad_request', 'not_found'],
  },
  compact: {
    summary: 'Compact a conversation',
    description:
      'Summarizes the input and the conversation before it with a model call. The response contains one item of type `compaction`; send it in later requests in place of the messages that it summarizes.',
    method: 'POST',
    path: `${path}/compact`,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    chatBodyBytes: 12 * 1024 * 1024,
    body: object(
      { model: word, input, instructions: maybe(string()), previous_response_id: maybe(word) },
      { title: 'CompactionRequest' },
    ),
    answer: answersEither(
      isJsonResponse(
        object(
          {
            id: string(),
            object: oneOf('response.compaction'),
            created_at: number(),
            output: array(item),
            usage,
          },
          { title: 'Compaction', open: true },
        ),
      ),
    ),
    errors: [...modelCallErrors, 'not_found'],
  },
  delete: {
    summary: 'Delete a stored response',
    description:
      'The response can no longer be retrieved or continued with `previous_response_id`. A background response in progress is stopped.',
    method: 'DELETE',
    path: one,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    answer: isJsonResponse(object({ id: string(), object: oneOf('response'), deleted: constant(true) })),
  },
  input_items: {
    summary: 'List the input items of a stored response',
    description: 'Items of earlier responses in the chain are not included.',
    method: 'GET',
    path: `${one}/input_items`,
    access: anyKeyOrDashboard,
    envelope: 'openai',
    query: {
      limit: optional(integer({ min: 1, max: 100 })),
      order: optional(oneOf('asc', 'desc')),
      after: optional(word),
    },
    passedOver: ['include', 'include[]'],
    answer: isJsonResponse(itemList),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly responses: typeof responses
  }
}
