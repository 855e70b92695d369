import type { Operation } from '#specs/dsl/declare.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import { declaredEstate } from '#test/e2e/sweep/estate/parts.ts'
import type { KnownIds } from './known-ids.ts'

/**
 * Operations that refuse some requests which their schema allows, for reasons that no schema can express. The estate of
 * the sweeps lists them by capability. Any other operation must not refuse a request that fits its schema as invalid.
 */
const { beyondSchema } = declaredEstate

/** Parameters with a position in a list: a schema cannot state which positions exist. */
const cursors = ['cursor', 'pageToken', 'starting_after', 'ending_before', 'after_id', 'before_id']

/** Statuses that are accepted for a valid request, in addition to those that the checks accept by default. */
const accepted = ['2xx', '3xx', '401', '403', '404', '409', '429', '5xx']
/** Statuses that are accepted for an invalid request; 431 comes from the HTTP server, before the dispatcher. */
const refused = ['400', '401', '403', '404', '405', '406', '409', '413', '415', '422', '428', '429', '431', '5xx']

/**
 * Returns the settings of Schemathesis as TOML: known ids for path parameters, other ids for deletions, and the
 * accepted statuses. Endless streams are left out: test/transport covers them.
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
    // deletions use resources created for this purpose, which are gone after the first deletion
    section('include-method = "DELETE"', `parameters = { ${pairs(doomed)} }`),
    section(named(endless), 'enabled = false'),
    // a cursor is opaque, and a time range must be valid
    section(named(paged), expecting('400')),
    section(named(ruled), expecting('400', '422')),
    // the tenant that the request names, itself or by a resource of it, must be that of X-Tenant-Id
    section(named(twice), expecting('400', '422')),
    // 502 reports that a provider failed: generated requests create providers that do
    section(
      named(operations.filter(callsProvider)),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502'])}`,
    ),
    // generated requests may have changed the server of its connection
    section(
      named(operations.filter(({ id }) => id === 'model_syncs.create')),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502', '503', '504'])}`,
    ),
    // a header that is not declared is ignored
    section(
      named(operations.filter(({ id }) => id === 'conversations.create' || id === 'conversation_items.add')),
      `checks.negative_data_rejection.expected-statuses = ${listOf(['2xx', ...refused])}`,
    ),
    section(named(operations.filter(({ id }) => id === 'auth.logout')), 'enabled = false'),
  ].join('\n\n')
}

/** Whether the declaration includes the error for a failed provider (502). */
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
