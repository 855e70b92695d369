import { callTimeout, timeoutHeader } from '#specs/call-timeout.ts'
import { namesTenants, type Operation } from '#specs/dsl/declare.ts'
import { holdsId, idTextPattern } from '#specs/dsl/id-text.ts'
import type { JsonSchema, Shape } from '#specs/dsl/schema.ts'

/** Every parameter of an operation: path, query, and the headers that follow from its declaration. */
export const parametersOf = (operation: Operation): readonly object[] => {
  const { params, query, idempotency, answer, tagged } = operation
  const isStream = answer.kind === 'events' && !answer.foreign
  return [
    ...params.map(pathParameter),
    ...queryParameters(query),
    ...(idempotency === 'ignored' ? [] : [idempotencyKey]),
    ...(namesTenants(operation) ? tenantHeaders(operation) : []),
    ...(operation.attributed ? [timeout] : []),
    ...(tagged ? [ifNoneMatch] : []),
    ...(isStream ? [eventNames] : []),
    ...(isStream && answer.resumable ? [lastEventId] : []),
  ]
}

const pathParameter = (name: string): object => ({
  name,
  in: 'path',
  required: true,
  description: pathWords(name),
  schema: { type: 'string', pattern: idTextPattern },
})

/** Description of a path parameter, for people. */
export const pathWords = (name: string): string =>
  unusual[name] ?? `Id of the ${name.replace(/_?id$/i, '').replaceAll('_', ' ')}.`

/** Path parameters that are not the id that their name suggests. */
const unusual: Readonly<Record<string, string>> = {
  chat: 'Id of the chat in the page, which must be that of the session.',
  external_user_id: 'Your own id of the user.',
  id: 'Id of the provider.',
  index: 'Index of the step, starting at 0.',
  jobId: 'Id of the browser job.',
  member_id: 'Id of the member.',
  model: 'Id of the model, or `provider/model`.',
  path: 'Path of the file within the skill.',
  stuck_id: 'Id of the stuck work.',
  task_id: 'Name of the task, such as `compaction`.',
  tool_connection_id: 'Id of the connection.',
  tool_name: 'Name of the tool.',
  version: 'Semantic version, such as `1.2.0`.',
}

const queryParameters = (query: Shape): readonly object[] =>
  Object.entries(query).map(([name, { json, presence }]) => {
    const { description, ...schema } = json
    const pattern = holdsId(name) && schema.type === 'string' ? { pattern: idTextPattern } : {}
    return {
      name,
      in: 'query',
      required: presence === 'required',
      ...(description && { description }),
      schema: { ...pattern, ...schema },
    }
  })

const header = (name: string, description: string, schema: JsonSchema): object => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
})

const idempotencyKey = header(
  'Idempotency-Key',
  'Unique value that makes the request safe to repeat. A repeated request gets the first response; keys are kept for 24 hours.',
  { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
)

const tenantHeaders = ({ attributed, ofTenants }: Operation): readonly object[] => {
  const narrows = 'Id of the tenant that the request is for. Resources of other tenants are not found.'
  const charges = 'Id of the tenant whose usage and limits the request counts towards.'
  const words = ofTenants ? narrows : attributed ? charges : 'Id of the tenant that the request is for.'
  return [
    header('X-Tenant-Id', words, { type: 'string', maxLength: 128 }),
    header(
      'X-External-User-Id',
      'Your own id of the end user that the request is for. ASCII only: send an id with other characters in the body or the path.',
      {
        type: 'string',
        maxLength: 256,
      },
    ),
  ]
}

const timeout = header(
  timeoutHeader,
  'Timeout in milliseconds: how long the provider may send nothing, before the first byte of its answer and between bytes.',
  { type: 'integer', minimum: callTimeout.minMs, maximum: callTimeout.maxMs },
)

const ifNoneMatch = header(
  'If-None-Match',
  'Entity tag (`ETag`) of your cached copy. If it is current, the response is 304.',
  {
    type: 'string',
  },
)

const eventNames = header(
  'X-Event-Names',
  '`short` names the text event `output_text.delta`. The default, `long`, names it `response.output_text.delta`.',
  { type: 'string', enum: ['short', 'long'] },
)

const lastEventId = header(
  'Last-Event-ID',
  'Sequence number of the last event that you received. The stream continues after it.',
  { type: 'string' },
)
