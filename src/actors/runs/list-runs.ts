import { runFields } from '#machines/run/run-data.ts'
import type { ResultOf } from '#specs/index.ts'
import { coveredWhere } from '#storage/index.ts'
import { listedScope } from '../call/reach.ts'
import type { UseCases } from '../call/use-cases.ts'
import { filteredPage } from '../records/filtered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import { timestampOf } from '../records/row-times.ts'
import { type Row, shownFields } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { sessionListFilter } from '../sessions/session-agent.ts'
import { type RunRowData, runRows } from './kinds.ts'
import type { RunParts } from './run-use-cases.ts'

type ListCall = Parameters<UseCases['runs.list']>[0]
type Listed = ResultOf<'runs.list'>['data'][number]

/** Returns one page of runs, newest first, from their list rows. */
export const listRuns = async (
  { host, records, now }: Pick<RunParts, 'host' | 'records' | 'now'>,
  { scope, principal, query }: ListCall,
): Promise<ResultOf<'runs.list'>> => {
  const { limit, cursor, tenant_id, external_user_id, ...filters } = query
  const within = ownedScope(await listedScope(principal, scope), { tenant_id, external_user_id })
  const only = sessionListFilter(principal)
  const foreign = only.agent_id !== undefined && (filters.agent_id ?? only.agent_id) !== only.agent_id
  if (within === null || foreign) return { data: [], next_cursor: null }
  const wanted = Object.entries({ ...filters, ...only }).filter(
    (entry): entry is [keyof RunRowData, string] => entry[1] !== undefined,
  )
  const where = coveredWhere(runRows, within, Object.fromEntries(wanted))
  const matches = ({ data }: Row<RunRowData>) => wanted.every(([field, value]) => data[field] === value)
  await host.rows.shown()
  const table = new Table(records, runRows, now)
  const cover = { scope: within, where, matches }
  const page = await filteredPage(table, { idPrefix: 'run' }, { cover, page: { limit, cursor } })
  return { ...page, data: page.data.map(listedView) }
}

const ended: readonly Listed['status'][] = ['completed', 'failed', 'cancelled', 'expired']
const weekMs = 7 * 24 * 60 * 60 * 1000

const listedView = ({ id, tenant, user, data, created_at, updated_at }: Row<RunRowData>): Listed => ({
  id,
  ...shownFields(runFields, data),
  status: data.status,
  tenant_id: tenant,
  external_user_id: user,
  parent_run_id: data.parent_run_id,
  created_at: timestampOf(created_at),
  updated_at: timestampOf(updated_at),
  finished_at: ended.includes(data.status) ? timestampOf(updated_at) : null,
  expires_at: timestampOf(created_at + (data.expires_in_ms ?? weekMs)),
})
