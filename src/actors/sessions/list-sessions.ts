import { deepestRow } from '#specs/dsl/lists.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import { exactly, type RecordQuery, type Scope, type StoredRecord, type Total } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { numberedPage } from '../records/numbered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import { isId } from '../runtime/index.ts'
import { sessionRows } from './kinds.ts'
import type { SessionFilter } from './session-agent.ts'
import { sessionRowView } from './session-views.ts'

type ListParts = Pick<Services, 'host' | 'records'>
type Query = Parameters<UseCases['sessions.list']>[0]['query']

/** Returns one page of the sessions in the scope that match one of these filters, newest first. */
export const listSessions = async (
  { host, records }: ListParts,
  { scope, query }: { readonly scope: Scope; readonly query: Query },
  filters: readonly SessionFilter[] = [{}],
): Promise<ResultOf<'sessions.list'>> => {
  const { limit, page } = query
  const within = ownedScope(scope, query)
  const { skip, ...from } = beginOf(query)
  const wheres = within === null ? [] : filters.flatMap((filter) => narrowed(query, filter))
  if (within === null || wheres.length === 0) return numberedPage([], { page, limit, total: exactly(0) })
  await host.rows.shown()
  const totals = await Promise.all(wheres.map((where) => records.total(sessionRows, within, where)))
  // One row more than the page: after `starting_after`, the page number does not show whether rows remain.
  const rows = await rowsOf({ records, within, wheres }, { ...from, skip, limit: limit + 1 })
  const shown = rows.slice(0, limit).map(sessionRowView)
  const { data, pagination } = numberedPage(shown, { page, limit, total: totals.reduce(sum) })
  return { data, pagination: { ...pagination, has_more: rows.length > limit } }
}

type Where = NonNullable<RecordQuery['where']>

/** The conditions of a query within a filter; none when they contradict it. */
const narrowed = ({ agent_id, installation_id, status }: Query, filter: SessionFilter): readonly Where[] => {
  const wanted = Object.entries({ agent_id, installation_id, status }).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value] as const],
  )
  const where: Readonly<Record<string, string>> = { ...Object.fromEntries(wanted), ...filter }
  return wanted.every(([field, value]) => where[field] === value) ? [where] : []
}

interface Lists extends Pick<Services, 'records'> {
  readonly within: Scope
  readonly wheres: readonly Where[]
}

/** Returns one page of the union of lists that have no row in common. */
const rowsOf = async (
  { records, within, wheres }: Lists,
  { skip, limit, ...from }: { readonly skip: number; readonly limit: number; readonly after?: string },
): Promise<readonly StoredRecord[]> => {
  const [where] = wheres
  if (wheres.length === 1 && where !== undefined)
    return records.list(sessionRows, within, { where, ...from, skip, limit })
  const reads = wheres.map((where) => records.list(sessionRows, within, { where, ...from, limit: skip + limit }))
  const rows = (await Promise.all(reads)).flat().sort((a, b) => (a.id < b.id ? 1 : -1))
  return rows.slice(skip, skip + limit)
}

const sum = (one: Total, other: Total): Total => ({
  count: one.count + other.count,
  is: one.is === 'exact' ? other.is : one.is,
})

/**
 * Where a page begins: an optional session to start after, and a number of rows to skip.
 *
 * @throws {ServiceError} `invalid_query`
 */
export const beginOf = ({ page, limit, starting_after }: Query): { readonly skip: number; readonly after?: string } => {
  const skip = (page - 1) * limit
  if (starting_after !== undefined && !isId(starting_after, 'ses'))
    throw new ServiceError('invalid_query', {
      param: 'starting_after',
      message: 'starting_after is not the id of a session.',
    })
  if (skip + limit > deepestRow)
    throw new ServiceError('invalid_query', {
      param: 'page',
      message: `Page numbers reach row ${deepestRow} only. Continue with starting_after, the id of the last session that you received.`,
    })
  return starting_after === undefined ? { skip } : { skip, after: starting_after }
}
