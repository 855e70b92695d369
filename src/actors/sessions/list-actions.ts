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

type ListCall = Parameters<UseCases['actions.list']>[0]

/** Returns one page of actions, newest first, from their list rows. Filtered by `status`, it is an approval inbox. */
export const listActions = async (
  { host, records, now }: Pick<ActionParts, 'host' | 'records' | 'now'>,
  { scope, query }: ListCall,
): Promise<ResultOf<'actions.list'>> => {
  const { limit, cursor, tenant_id, external_user_id, ...filters } = query
  const within = ownedScope(scope, { tenant_id, external_user_id })
  if (within === null) return { data: [], next_cursor: null }
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined)
  const where = coveredWhere(actionRows, within, filters)
  const matches = ({ data }: Row<JsonObject>) => wanted.every(([field, value]) => data[field] === value)
  await host.rows.shown()
  const cover = { scope: within, where, matches }
  const table = new Table(records, actionRows, now)
  const page = await filteredPage(table, { idPrefix: 'act' }, { cover, page: { limit, cursor } })
  return { ...page, data: page.data.map(actionRowView) }
}
