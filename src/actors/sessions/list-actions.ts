import type { ResultOf } from '#specs/index.ts'
import { coveredWhere, type JsonObject } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { filteredPage } from '../records/filtered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { ActionParts } from './action-use-cases.ts'
import { actionRowView } from './action-views.ts'
import { actionRows } from './kinds.ts'
import { summariesOf } from './reviews/action-reviews.ts'

type Review = ResultOf<'actions.get'>['review']
type ListCall = Parameters<UseCases['actions.list']>[0]

/** Returns one page of actions, newest first, from their list rows. Filtered by `status`, it is an approval inbox. */
export const listActions = async (
  { host, records, now }: Pick<ActionParts, 'host' | 'records' | 'now'>,
  { scope, query }: ListCall,
): Promise<ResultOf<'actions.list'>> => {
  const { limit, cursor, tenant_id, external_user_id, assignee_id, unassigned, snoozed, ...filters } = query
  const within = ownedScope(scope, { tenant_id, external_user_id })
  if (within === null) return { data: [], next_cursor: null }
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined)
  const where = coveredWhere(actionRows, within, filters)
  const reviews = new Map<string, Review>()
  const prepare = async (rows: readonly Row<JsonObject>[]): Promise<void> => {
    const ids = rows.map(({ id }) => id)
    const summary = await summariesOf({ records, now }, within, ids)
    for (const id of ids) reviews.set(id, summary(id))
  }
  const matches = ({ id, data }: Row<JsonObject>) => {
    const review = reviews.get(id)
    return (
      wanted.every(([field, value]) => data[field] === value) &&
      (assignee_id === undefined || review?.assignee_id === assignee_id) &&
      (unassigned === undefined || (review?.assignee_id === null) === unassigned) &&
      (snoozed === undefined || (review?.snoozed_until !== null) === snoozed)
    )
  }
  await host.rows.shown()
  const cover = { scope: within, where, matches, prepare }
  const table = new Table(records, actionRows, now)
  const page = await filteredPage(table, { idPrefix: 'act' }, { cover, page: { limit, cursor } })
  const data = page.data.flatMap((row) => {
    const review = reviews.get(row.id)
    return review === undefined ? [] : [{ ...actionRowView(row), review }]
  })
  return { ...page, data }
}
