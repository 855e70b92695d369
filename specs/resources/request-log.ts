import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { cursorPage, cursorQuery } from '../lists.ts'
import {
  boolean,
  defaulted,
  described,
  id,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timeOrDay,
  timestamp,
} from '../schema.ts'

const reference = () => nullable(string())
const word = optional(string({ minLength: 1, maxLength: 256 }))
const time = (description: string) =>
  optional(described(timeOrDay(), `${description} A day such as 2026-01-31 is its beginning in UTC.`))

const line = {
  id: id('log'),
  request_id: string(),
  /** When the request was over. */
  at: timestamp(),
  started_at: timestamp(),
  operation: string(),
  need: oneOf('chat', 'vision', 'embedding', 'speech', 'transcription'),
  /** Kind of the credential. */
  credential: string(),
  key_id: reference(),
  tenant_id: reference(),
  external_user_id: reference(),
  agent_id: reference(),
  /** As the caller named it. */
  asked_model: string(),
  /** Who answered, or was asked last; null when nobody was. */
  provider: reference(),
  model: reference(),
  source: nullable(oneOf('byok', 'custom', 'managed', 'simulated')),
  connection_id: reference(),
  status: integer(),
  error: reference(),
  streamed: boolean(),
  first_byte_ms: nullable(number()),
  duration_ms: number(),
  attempts: integer(),
  input_tokens: integer(),
  output_tokens: integer(),
  cached_tokens: integer(),
  cache_write_tokens: integer(),
  reasoning_tokens: integer(),
  characters: nullable(integer()),
  seconds: nullable(number()),
  images: nullable(integer()),
  /** null: unknown. */
  cost_usd: nullable(string({ pattern: '^\\d+(\\.\\d+)?$' })),
  /** `busy`: the server had no time for them; `none`: there were none. */
  bodies: oneOf('kept', 'off', 'none', 'busy'),
}

const bodies = {
  /** Without personal data and secrets, cut when it is long. */
  request_body: reference(),
  response_body: reference(),
}

/** One line for each request to the gateway (specs/decisions/0086-metering-and-limits.md). */
export const requestLog = defineOperations('request_log', {
  list: {
    summary: 'List: RequestLogLine, newest first',
    method: 'GET',
    path: '/v1/request-log',
    access: secretKeyOnly,
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
      failed: optional(described(boolean(), 'Only those that went wrong, or only those that did not.')),
      from: time('The beginning, included.'),
      to: time('The end, not included.'),
    },
    answer: answersJson(cursorPage(object(line, { title: 'RequestLogLine' }))),
  },
  get: {
    summary: 'Read: RequestLogEntry, with what was asked and answered',
    method: 'GET',
    path: '/v1/request-log/{request_id}',
    access: secretKeyOnly,
    answer: answersJson(object({ ...line, ...bodies }, { title: 'RequestLogEntry' })),
  },
})

const settings = object(
  {
    mode: described(
      defaulted(oneOf('off', 'metadata', 'bodies'), 'bodies'),
      'No lines, lines without texts, or with what was asked and answered, without personal data.',
    ),
    retention_days: described(defaulted(integer({ min: 1, max: 365 }), 30), 'Lines that there are keep their time.'),
  },
  { title: 'RequestLogSettings' },
)

/** How a project wants its request log. */
export const requestLogSettings = defineOperations('request_log_settings', {
  get: {
    summary: 'Read: RequestLogSettings',
    method: 'GET',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(settings),
  },
  put: {
    summary: 'Change: RequestLogSettings',
    method: 'PUT',
    path: '/v1/request-log-settings',
    access: secretKeyOrDashboard('admin'),
    body: settings,
    errors: ['version_conflict'],
    answer: answersJson(settings),
  },
})
