import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
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
  optional(
    described(timeOrDay(), `${description} A date such as 2026-01-31 means midnight UTC at the start of that day.`),
  )

const line = {
  id: id('log'),
  request_id: string(),
  at: described(timestamp(), 'Time at which the request ended.'),
  started_at: described(timestamp(), 'Time at which the request started.'),
  operation: string({ description: 'Id of the operation.' }),
  need: oneOf('chat', 'vision', 'embedding', 'speech', 'transcription', 'image'),
  credential: string({ description: 'Kind of the credential.' }),
  key_id: reference(),
  tenant_id: reference(),
  external_user_id: reference(),
  agent_id: reference(),
  asked_model: string({ description: 'Model that was requested.' }),
  provider: described(reference(), 'Provider that answered or failed last; null when no provider was called.'),
  model: reference(),
  source: nullable(oneOf('byok', 'custom', 'managed', 'simulated')),
  connection_id: reference(),
  status: integer({ description: 'HTTP status of the response.' }),
  error: described(reference(), 'Error code of the response.'),
  streamed: described(boolean(), 'Whether the response was a stream.'),
  first_byte_ms: nullable(number({ description: 'Milliseconds until the first byte of the response.' })),
  duration_ms: number({ description: 'Duration of the whole request in milliseconds.' }),
  attempts: integer({ description: 'Number of calls to providers.' }),
  redactions: described(
    record(integer()),
    'Number of values that were redacted before the request was sent to a provider, by type of personal data.',
  ),
  guardrails: described(
    array(
      object({
        guardrail: string({ description: 'Name of the guardrail.' }),
        check: string({ description: 'Type of the check.' }),
        on: oneOf('input', 'output'),
        outcome: described(
          oneOf('flagged', 'redacted', 'blocked', 'failed'),
          'What followed. `failed`: the check itself failed, and the guardrail lets such calls pass.',
        ),
        found: described(integer(), 'Number of places or texts.'),
      }),
    ),
    'What the guardrails found; empty for nothing.',
  ),
  input_tokens: integer(),
  output_tokens: integer(),
  cached_tokens: integer(),
  cache_write_tokens: integer(),
  reasoning_tokens: integer(),
  characters: nullable(integer()),
  seconds: nullable(number()),
  images: nullable(integer()),
  cost_usd: nullable(string({ pattern: '^\\d+(\\.\\d+)?$', description: 'Cost in USD; null if unknown.' })),
  cache: described(
    nullable(oneOf('hit', 'miss', 'bypass')),
    'How stored answers were used. Null for projects that store none.',
  ),
  saved_usd: described(
    nullable(string({ pattern: '^\\d+(\\.\\d+)?$' })),
    'What the stored answer had cost, in USD; null without a hit, or if unknown.',
  ),
  bodies: described(
    oneOf('kept', 'off', 'none', 'busy'),
    'Whether the bodies were stored, or why not. `off`: disabled by the settings. `none`: there were none. `busy`: the server was under load.',
  ),
}

/** Details of a single request. */
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
    'Failed attempts before the final one, in order; at most 20.',
  ),
  price: described(
    nullable(jsonObject()),
    'Unit prices in USD from which the cost was computed, with the date of the price list. Null if unknown.',
  ),
}

const bodies = {
  request_body: described(reference(), 'Body of the request, redacted and truncated to 16 KB.'),
  response_body: described(reference(), 'Body of the response, redacted and truncated to 16 KB.'),
}

/** Log of requests to the gateway, one entry per request (specs/decisions/0086-metering-and-limits.md). */
export const requestLog = defineOperations('request_log', {
  list: {
    summary: 'List the entries of the request log',
    description: 'Newest first; one entry per request to the gateway.',
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
      from: time('Start of the time range, inclusive.'),
      to: time('End of the time range, exclusive.'),
    },
    answer: isJsonResponse(
      cursorPage(object(line, { title: 'RequestLogLine', description: 'A request to the gateway.' })),
    ),
  },
  get: {
    summary: 'Retrieve an entry of the request log',
    description:
      'Returns the entry with the bodies of the request and the response, where they were kept. When several requests have the same id, returns the newest.',
    method: 'GET',
    path: '/v1/request-log/{request_id}',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(
      object(
        { ...line, ...details, ...bodies },
        { title: 'RequestLogEntry', description: 'A request to the gateway, with its bodies.' },
      ),
    ),
  },
})

const settings = object(
  {
    mode: described(
      defaulted(oneOf('off', 'metadata', 'bodies'), 'bodies'),
      '`off`: no entries. `metadata`: entries without bodies. `bodies`: entries with redacted bodies.',
    ),
    retention_days: described(
      defaulted(integer({ min: 1, max: 365 }), 30),
      'Days for which new entries are kept. Existing entries keep their expiry.',
    ),
  },
  { title: 'RequestLogSettings', description: 'Settings of the request log.' },
)

/** Settings of a project's request log. */
export const requestLogSettings = defineOperations('request_log_settings', {
  get: {
    summary: 'Retrieve the settings of the request log',
    description:
      'Returns what the log of model calls of the project stores. A project that never changed it has the defaults.',
    method: 'GET',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(settings),
  },
  put: {
    summary: 'Update the settings of the request log',
    description:
      'Replaces the settings as a whole. They apply to calls that begin afterwards; entries that are stored stay as they are.',
    method: 'PUT',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('admin'),
    body: settings,
    errors: ['version_conflict'],
    answer: isJsonResponse(settings),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly requestLog: typeof requestLog
    readonly requestLogSettings: typeof requestLogSettings
  }
}
