import type { Operation } from '#specs/dsl/declare.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import { declaredEstate } from '#test/e2e/sweep/estate/parts.ts'
import type { KnownIds } from './known-ids.ts'

/**
 * Operations that refuse some requests which their schema allows, for what no schema can say: the estate of the sweeps
 * has them by capability. Of every other one a request that fits the schema must not be answered as wrong.
 */
const { beyondSchema } = declaredEstate

/** Parameters that name a place in a list: a schema cannot say which ones there are. */
const cursors = ['cursor', 'starting_after', 'ending_before']

/** What the checks take for a right answer to a right request, beside what they take anyway. */
const accepted = ['2xx', '3xx', '401', '403', '404', '409', '429', '5xx']
/** What they take for a right answer to a wrong one; 431 comes from the HTTP server, before the dispatcher. */
const refused = ['400', '401', '403', '404', '405', '406', '409', '413', '415', '422', '428', '429', '431', '5xx']

/**
 * The settings of schemathesis, as TOML: known ids for path parameters, others for what is to be deleted, and which
 * answers are right. Streams that never end are left out: test/transport holds them.
 */
export const settingsOf = (operations: readonly Operation[], known: KnownIds, doomed: KnownIds): string => {
  const endless = operations.filter(({ answer }) => answer.kind === 'events' && answer.resumable)
  const ruled = operations.filter(({ id }) => id in beyondSchema)
  const twice = operations.filter((operation) => !ruled.includes(operation) && namesTenant(operation))
  const paged = operations
    .filter(({ id, query }) => cursors.some((name) => name in query) || id.startsWith('usage.'))
    .filter((operation) => !ruled.includes(operation) && !twice.includes(operation))
  return [
    `[checks]\nnegative_data_rejection.expected-statuses = ${listOf(refused)}`,
    `[parameters]\n${assigned(known)}`,
    // what a deletion names is not what was created before it, but kept for that, and gone after the first one
    section('include-method = "DELETE"', `parameters = { ${pairs(doomed)} }`),
    section(named(endless), 'enabled = false'),
    // a cursor is opaque, and a time range has to be one
    section(named(paged), expecting('400')),
    section(named(ruled), expecting('400', '422')),
    // the tenant, or what belongs to one, is named by X-Tenant-Id too, and both have to be the same
    section(named(twice), expecting('400', '422')),
    // 502 says that a provider failed, for those who call one: generated requests make providers that do
    section(
      named(operations.filter(callsProvider)),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502'])}`,
    ),
    // its connection may name another server by now
    section(
      named(operations.filter(({ id }) => id === 'model_syncs.create')),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502', '503', '504'])}`,
    ),
    // a header that is not declared is passed over
    section(
      named(operations.filter(({ id }) => id === 'conversations.create' || id === 'conversation_items.add')),
      `checks.negative_data_rejection.expected-statuses = ${listOf(['2xx', ...refused])}`,
    ),
    section(named(operations.filter(({ id }) => id === 'auth.logout')), 'enabled = false'),
  ].join('\n\n')
}

/** Whether the declaration says that a provider's failure is answered. */
const callsProvider = ({ id, envelope, errors }: Operation): boolean =>
  id !== 'model_syncs.create' && errors.some((code) => statusIn(envelope, code) === 502)

/** Whether a path, query or body names a tenant, a user of one, or what a tenant owns. */
const namesTenant = ({ paths, query, body }: Operation): boolean =>
  /tenant_id|external_user_id|userId|installation_id|session_id|run_id/.test(
    [...paths, ...Object.keys(query), JSON.stringify(body?.json ?? null)].join(' '),
  )

const section = (...lines: readonly string[]): string => ['[[operations]]', ...lines].join('\n')

const named = (operations: readonly Operation[]): string =>
  `include-operation-id = ${listOf(operations.map(({ id }) => id))}`

const expecting = (...statuses: readonly string[]): string =>
  `checks.positive_data_acceptance.expected-statuses = ${listOf([...accepted, ...statuses])}`

const listOf = (values: readonly string[]): string => JSON.stringify(values)

const pairs = (ids: KnownIds): string =>
  Object.entries(ids)
    .map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`)
    .join(', ')

const assigned = (ids: KnownIds): string => pairs(ids).replaceAll(', "path.', '\n"path.')
