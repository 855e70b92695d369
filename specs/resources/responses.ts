import { anyKeyOrDashboard } from '../access.ts'
import { answersBytes, answersEither, answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { modelCallErrors } from '../gateway-errors.ts'
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
  type Schema,
  string,
  union,
} from '../schema.ts'

const path = '/v1/responses'
const one = '/v1/responses/{response_id}'

/** A field of a body that may be left out, or be null. */
const maybe = <S extends Schema<unknown>>(schema: S) => optional(nullable(schema))

const word = string({ minLength: 1, maxLength: 256 })
const itemsMax = 8192

const body = object(
  {
    model: word,
    models: maybe(described(array(word, { maxItems: 8 }), 'Asked in order when `model` cannot serve.')),
    /** May be left out to go on from `previous_response_id`. */
    input: maybe(union([string(), array(jsonObject(), { maxItems: itemsMax })])),
    instructions: maybe(string()),
    previous_response_id: maybe(word),
    store: maybe(boolean()),
    stream: maybe(boolean()),
    tools: maybe(array(jsonObject(), { maxItems: 128 })),
    tool_choice: maybe(json()),
    parallel_tool_calls: maybe(boolean()),
    max_tool_calls: maybe(integer({ min: 1 })),
    max_output_tokens: maybe(integer({ min: 1 })),
    text: maybe(object({ format: maybe(jsonObject()), verbosity: maybe(oneOf('low', 'medium', 'high')) })),
    reasoning: maybe(object({ effort: maybe(word), summary: maybe(word) })),
    temperature: maybe(number({ min: 0, max: 2 })),
    top_p: maybe(number({ min: 0, max: 1 })),
    truncation: maybe(oneOf('auto', 'disabled')),
    metadata: maybe(record(string({ maxLength: 512 }), { maxProperties: 16 })),
    user: maybe(string({ maxLength: 256 })),
    /** Refused when true: an answer is waited for or streamed. */
    background: maybe(boolean()),
    /** Refused: `previous_response_id` carries conversations. */
    conversation: maybe(json()),
    /** Refused: prompts are not kept here. */
    prompt: maybe(json()),
  },
  { title: 'ResponseRequest' },
)

const usage = object(
  {
    input_tokens: integer(),
    input_tokens_details: object({ cached_tokens: integer(), cache_write_tokens: integer() }, { open: true }),
    output_tokens: integer(),
    output_tokens_details: object({ reasoning_tokens: integer() }, { open: true }),
    total_tokens: integer(),
  },
  { title: 'ResponseUsage', open: true },
)

/** A message, a call, a search, reasoning … */
const item = object({ id: string(), type: string() }, { title: 'ResponseItem', open: true })

/** OpenAI's Response document. What OpenAI adds to its own answers is handed on. */
const response = object(
  {
    id: string(),
    object: oneOf('response'),
    created_at: number(),
    completed_at: optional(nullable(number())),
    status: oneOf('in_progress', 'completed', 'incomplete', 'failed'),
    background: optional(nullable(boolean())),
    error: nullable(object({ code: string(), message: string() }, { open: true })),
    incomplete_details: nullable(object({ reason: string() }, { open: true })),
    instructions: nullable(json()),
    max_output_tokens: optional(nullable(integer())),
    max_tool_calls: optional(nullable(integer())),
    metadata: nullable(jsonObject()),
    model: string(),
    output: array(item),
    parallel_tool_calls: boolean(),
    previous_response_id: optional(nullable(string())),
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
  { title: 'ModelResponse', open: true },
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

/** OpenAI's Responses form. What is stored is kept for 30 days (interface additions "responses"). */
export const responses = defineOperations('responses', {
  create: {
    summary: 'Answer in the Responses form, streamed or not, with function calls, web search and earlier responses',
    method: 'POST',
    path,
    access: anyKeyOrDashboard,
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    // a stored response has to fit into one document of the store
    maxBodyBytes: 12 * 1024 * 1024,
    body,
    answer: answersEither(answersJson(response), answersBytes('text/event-stream')),
    errors: [...modelCallErrors, 'not_found'],
  },
  get: {
    summary: 'Read a stored response',
    method: 'GET',
    path: one,
    access: anyKeyOrDashboard,
    query: { stream: described(optional(boolean()), 'Refused when true: an answer is streamed while it is made.') },
    answer: answersJson(response),
    errors: ['bad_request'],
  },
  delete: {
    summary: 'Delete a stored response',
    method: 'DELETE',
    path: one,
    access: anyKeyOrDashboard,
    answer: answersJson(object({ id: string(), object: oneOf('response'), deleted: constant(true) })),
  },
  input_items: {
    summary: 'List what a stored response was asked with, earlier responses left out',
    method: 'GET',
    path: `${one}/input_items`,
    access: anyKeyOrDashboard,
    query: {
      limit: optional(integer({ min: 1, max: 100 })),
      order: optional(oneOf('asc', 'desc')),
      after: optional(word),
    },
    answer: answersJson(itemList),
  },
})
