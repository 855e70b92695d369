import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { openaiList, openaiQuery } from '#specs/dsl/lists.ts'
import {
  array,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  record,
  string,
} from '#specs/dsl/schema.ts'
import { statuses } from '#specs/statuses.ts'

/** Endpoints that the lines of a batch may call. */
export const batchEndpoints = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings'] as const

/** The endpoint of message batches, which are batches too. */
export const messagesEndpoint = '/v1/messages'

/** Maximum number of lines of a batch. */
export const maxBatchLines = 50_000

/** Maximum length of one line of a batch, in bytes. */
export const maxBatchLineBytes = 1024 * 1024

/** Maximum number of batches of a project that have not ended. */
export const maxOpenBatches = 100

const path = '/v1/batches'
const one = '/v1/batches/{batch_id}'

const metadata = nullable(record(string({ maxLength: 512 }), { maxProperties: 16 }))
const seconds = optional(integer())

const batch = object(
  {
    id: id('batch'),
    object: oneOf('batch'),
    endpoint: described(
      oneOf(...batchEndpoints, messagesEndpoint),
      '`/v1/messages` for a batch of `message_batches.create`, whose files have its format.',
    ),
    input_file_id: id('file'),
    completion_window: string(),
    status: oneOf(...statuses.batch),
    errors: optional(
      object({
        object: oneOf('list'),
        data: array(
          object({
            code: string(),
            line: described(nullable(integer()), 'Number of the line, starting at 1.'),
            message: string(),
            param: nullable(string()),
          }),
        ),
      }),
    ),
    output_file_id: described(optional(id('file')), 'File with the answers, in the order of the requests.'),
    error_file_id: described(
      optional(id('file')),
      'File with the requests that failed or that the batch had no time for.',
    ),
    request_counts: object({ total: integer(), completed: integer(), failed: integer() }),
    usage: object({
      input_tokens: integer(),
      input_tokens_details: object({ cached_tokens: integer() }),
      output_tokens: integer(),
      output_tokens_details: object({ reasoning_tokens: integer() }),
      total_tokens: integer(),
    }),
    metadata: jsonObject(),
    created_at: integer(),
    expires_at: integer(),
    ...{ in_progress_at: seconds, finalizing_at: seconds, completed_at: seconds, failed_at: seconds },
    ...{ expired_at: seconds, cancelling_at: seconds, cancelled_at: seconds },
  },
  { title: 'Batch', description: "Many requests that are made in the background, in the format of OpenAI's API." },
)

const shared = { access: secretKeyOrDashboard('member'), envelope: 'openai', ofTenants: 'tenant' } as const

/** OpenAI's batches. */
export const batches = defineOperations('batches', {
  create: {
    ...shared,
    summary: 'Create a batch',
    description:
      'Makes the requests of a file with the purpose `batch` in the background: JSON Lines of up to 50,000 lines of up to 1 MB, each with `custom_id`, `method` (`POST`), `url` (the endpoint) and `body`, and up to 20,000 names, strings, objects and arrays. A file with an invalid line fails as a whole, and `errors` lists the lines. Batches use at most half of each rate limit and wait when it is reached. Usage has one row for each model call, and the request log none. A project has at most 100 batches that have not ended.',
    method: 'POST',
    path,
    body: object({
      input_file_id: string({ minLength: 1, maxLength: 128 }),
      endpoint: oneOf(...batchEndpoints),
      completion_window: described(
        string({ pattern: '^[1-9][0-9]{0,3}[smhd]$' }),
        'Time after which requests that have not been made are given up, such as `24h`; at most `7d`.',
      ),
      metadata: optional(metadata),
    }),
    answer: isJsonResponse(batch),
    errors: ['not_found', 'rate_limit_exceeded'],
  },
  list: {
    ...shared,
    summary: 'List batches',
    description: 'Newest first. To get the next page, send the id of the last batch as `after`.',
    method: 'GET',
    path,
    query: openaiQuery,
    answer: isJsonResponse(openaiList(batch)),
  },
  get: {
    ...shared,
    summary: 'Retrieve a batch',
    description: 'Returns the batch with the number of its requests that have ended.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(batch),
  },
  cancel: {
    ...shared,
    summary: 'Cancel a batch',
    description:
      'No further request is made. Those in progress may end within 10 minutes; then the batch is `cancelled`, with files of what was done.',
    method: 'POST',
    path: `${one}/cancel`,
    idempotency: 'ignored',
    answer: isJsonResponse(batch),
    errors: ['invalid_transition'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly batches: typeof batches
  }
}
