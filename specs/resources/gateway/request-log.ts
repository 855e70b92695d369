import { secretKeyOrDashboard } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { cursorPage, cursorQuery } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  timeOrDay,
  timestamp,
} from '#specs/dsl/schema.ts'

const reference = () => nullable(string())
const word = optional(string({ minLength: 1, maxLength: 256 }))
const time = (description: string) =>
  optional(described(timeOrDay(), `${description} A day such as 2026-01-31 counts as its start in UTC.`))

const line = {
  id: id('log'),
  request_id: string(),
  at: described(timestamp(), 'End of the request.'),
  started_at: described(timestamp(), 'Start of the request.'),
  operation: string({ description: 'Id of the operation.' }),
  need: oneOf('chat', 'vision', 'embedding', 'speech', 'transcription', 'image'),
  credential: string({ description: 'Kind of the credential.' }),
  key_id: reference(),
  tenant_id: reference(),
  external_user_id: reference(),
  agent_id: reference(),
  asked_model: string({ description: 'Model of the request.' }),
  provider: described(reference(), 'Provider that answered or failed last; null when no provider was called.'),
  model: reference(),
  source: nullable(oneOf('byok', 'custom', 'managed', 'simulated')),
  connection_id: reference(),
  status: integer({ description: 'HTTP status of the response.' }),
  error: described(reference(), 'Error code of the response.'),
  streamed: described(boolean(), 'Whether the response was a stream.'),
  first_byte_ms: nullable(number({ description: 'Milliseconds until the first byte of the response.' })),
  duration_ms: number({ description: 'Milliseconds of the whole request.' }),
  attempts: integer({ description: 'Number of calls to providers.' }),
  redactions: described(
    record(integer()),
    'Number of values that were replaced before the request went to a provider, by the type of personal data.',
  ),
  input_tokens: integer(),
  output_tokens: integer(),
  cached_tokens: integer(),
  cache_write_tokens: integer(),
  reasoning_tokens: integer(),
  characters: nullable(integer()),
  seconds: nullable(number()),
  images: nullable(integer()),
  cost_usd: nullable(string({ pattern: '^\\d+(\\.\\d+)?$', description: 'Cost in USD; null when it is unknown.' })),
  bodies: described(
    oneOf('kept', 'off', 'none', 'busy'),
    'Whether the texts were kept. `off`: by the settings. `none`: there were none. `busy`: the server was under load.',
  ),
}

/** What one request is looked at for. */
const details = {
  failed_attempts: described(
    array(
      object({
        provider: string(),
        model: string(),
        source: oneOf('byok', 'custom', 'managed', 'simulated'),
        connection_id: reference(),
        error: string({ description: 'Error code of the attempt.' }),
        message: string(),
        after_ms: integer({ description: 'Milliseconds from the start of the request until the attempt failed.' }),
      }),
    ),
    'Attempts that failed before the one that is named above, in order; at most 20.',
  ),
  price: described(
    nullable(jsonObject()),
    'Prices by which the cost was computed, in USD by unit, with the day of the list. Null when they are unknown.',
  ),
}

const bodies = {
  request_body: described(reference(), 'Text of the request, redacted and cut at 16 KB.'),
  response_body: described(reference(), 'Text of the response, redacted and cut at 16 KB.'),
}

/** One line for each request to the gateway (specs/decisions/0086-metering-and-limits.md). */
export const requestLog = defineOperations('request_log', {
  list: {
    summary: 'List the lines of the request log',
    description: 'Newest first; one line for each request to the gateway.',
    method: 'GET',
    path: '/v1/request-log',
    access: secretKeyOrDashboard('member'),
    query: {
      ...cursorQuery,
      model: word,
      provider: word,
      operation: word,
      tenant_id: word,
      external_user_id: word,
      key_id: word,
      error: word,
      status: optional(integer({ min: 100, max: 599 })),
      failed: optional(described(boolean(), '`true`: failed requests only. `false`: successful requests only.')),
      from: time('First time, inclusive.'),
      to: time('Last time, exclusive.'),
    },
    answer: answersJson(
      cursorPage(object(line, { title: 'RequestLogLine', description: 'A request to the gateway.' })),
    ),
  },
  get: {
    summary: 'Retrieve a line of the request log',
    description:
      'Returns the texts of request and response. When several requests have the same id, returns the newest.',
    method: 'GET',
    path: '/v1/request-log/{request_id}',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(
      object(
        { ...line, ...details, ...bodies },
        { title: 'RequestLogEntry', description: 'A request to the gateway, with its texts.' },
      ),
    ),
  },
})

const settings = object(
  {
    mode: described(
      defaulted(oneOf('off', 'metadata', 'bodies'), 'bodies'),
      '`off`: no lines. `metadata`: lines without texts. `bodies`: lines with redacted texts.',
    ),
    retention_days: described(
      defaulted(integer({ min: 1, max: 365 }), 30),
      'Days for which new lines are kept. Existing lines keep their own time.',
    ),
  },
  { title: 'RequestLogSettings', description: 'Settings of the request log.' },
)

/** Settings of a project's request log. */
export const requestLogSettings = defineOperations('request_log_settings', {
  get: {
    summary: 'Retrieve the settings of the request log',
    method: 'GET',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(settings),
  },
  put: {
    summary: 'Update the settings of the request log',
    method: 'PUT',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('admin'),
    body: settings,
    errors: ['version_conflict'],
    answer: answersJson(settings),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly requestLog: typeof requestLog
    readonly requestLogSettings: typeof requestLogSettings
  }
}
