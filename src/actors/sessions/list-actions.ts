import type { ResultOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { filteredPage } from '../records/filtered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { ActionParts } from './action-use-cases.ts'
import { actionRowView } from './action-views.ts'
import { actionRows } from './kinds.ts'

type ListCall = Parameters<UseCases['actions.list']>[0]

/** Indexed filters, the most selective first. The first one given selects the rows; the others are applied to those. */
const indexed = ['session_id', 'run_id', 'status']

/** Returns one page of actions, newest first, from their list rows. Filtered by `status`, it is an approval inbox. */
export const listActions = async (
  { host, records, now }: Pick<ActionParts, 'host' | 'records' | 'now'>,
  { scope, query }: ListCall,
): Promise<ResultOf<'actions.list'>> => {
  const { limit, cursor, tenant_id, external_user_id, ...filters } = query
  const within = ownedScope(scope, { tenant_id, external_user_id })
  if (within === null) return { data: [], next_cursor: null }
  const wanted = Object.entries(filters).filter(([, value]) => value !== undefined)
  const first = indexed.find((field) => wanted.some(([name]) => name === field))
  const where = Object.fromEntries(wanted.filter(([name]) => name === first))
  const matches = ({ data }: Row<JsonObject>) => wanted.every(([field, value]) => data[field] === value)
  await host.rows.shown()
  const cover = { scope: within, where, matches }
  const table = new Table(records, actionRows, now)
  const page = await filteredPage(table, { idPrefix: 'act' }, { cover, page: { limit, cursor } })
  return { ...page, data: page.data.map(actionRowView) }
}
