import { secretKeyOrDashboard } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { maxBatchLines } from './batches.ts'

const path = '/v1/messages/batches'
const one = '/v1/messages/batches/{message_batch_id}'

const time = nullable(timestamp())
const cursor = optional(string({ minLength: 1, maxLength: 128 }))

const batch = object(
  {
    id: id('batch'),
    type: oneOf('message_batch'),
    processing_status: oneOf('in_progress', 'canceling', 'ended'),
    request_counts: described(
      object({
        ...{ processing: integer(), succeeded: integer(), errored: integer() },
        ...{ canceled: integer(), expired: integer() },
      }),
      'Numbers of requests; also while they are made.',
    ),
    created_at: timestamp(),
    expires_at: timestamp(),
    ...{ ended_at: time, cancel_initiated_at: time, archived_at: time },
    results_url: described(nullable(string()), 'Address of the results, once the batch has ended.'),
  },
  { title: 'MessageBatch', description: "Many messages that are made in the background, as in Anthropic's API." },
)

const shared = {
  access: secretKeyOrDashboard('member'),
  envelope: 'anthropic',
  ofTenants: 'tenant',
  unknownFields: 'ignore',
} as const

/** Anthropic's message batches, for every model. */
export const messageBatches = defineOperations('message_batches', {
  create: {
    ...shared,
    summary: 'Create a message batch',
    description:
      'Makes up to 50,000 messages in the background, within 24 hours: each of up to 1 MB, and of up to 20,000 names, strings, objects and arrays. What a message is refused for is its result. Limits, usage and the files of the batch are those of `batches.create`.',
    method: 'POST',
    path,
    maxBodyBytes: 32 * 1024 * 1024,
    // the shortest request has fifteen values
    maxBodyValues: 20 * maxBatchLines,
    body: object({
      requests: array(
        object({
          custom_id: described(string({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), 'Unique within the batch.'),
          params: described(jsonObject(), 'The body of `messages.create`, without `stream`.'),
        }),
        { minItems: 1, maxItems: maxBatchLines },
      ),
    }),
    answer: isJsonResponse(batch),
    errors: ['rate_limit_exceeded'],
  },
  list: {
    ...shared,
    summary: 'List message batches',
    description: 'Newest first, of those of `batches.list` the ones with messages.',
    method: 'GET',
    path,
    query: {
      limit: described(defaulted(integer({ min: 1, max: 1000 }), 20), 'Maximum number of items on a page.'),
      after_id: described(cursor, 'Id of the last item of the previous page.'),
      before_id: described(cursor, 'Id of the first item of the next page.'),
    },
    answer: isJsonResponse(
      object({ data: array(batch), has_more: boolean(), first_id: nullable(string()), last_id: nullable(string()) }),
    ),
  },
  get: {
    ...shared,
    summary: 'Retrieve a message batch',
    description: 'Returns the batch with the numbers of its requests by their outcome.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(batch),
  },
  results: {
    ...shared,
    summary: 'Retrieve the results of a message batch',
    description:
      'JSON Lines with `custom_id` and `result`, which is `succeeded`, `errored`, `canceled` or `expired`, in no particular order.',
    method: 'GET',
    path: `${one}/results`,
    answer: answersBytes('application/x-jsonl'),
    errors: ['invalid_transition'],
  },
  cancel: {
    ...shared,
    summary: 'Cancel a message batch',
    description: 'No further message is made. Those in progress may end within 10 minutes.',
    method: 'POST',
    path: `${one}/cancel`,
    idempotency: 'ignored',
    answer: isJsonResponse(batch),
    errors: ['invalid_transition'],
  },
  delete: {
    ...shared,
    summary: 'Delete a message batch',
    description: 'Deletes a batch that has ended, with its results.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(object({ id: string(), type: oneOf('message_batch_deleted') })),
    errors: ['invalid_transition'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly message_batches: typeof messageBatches
  }
}
