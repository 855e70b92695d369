import { runFields } from '#machines/run/run-data.ts'
import type { ResultOf } from '#specs/index.ts'
import { coveredWhere } from '#storage/index.ts'
import { listedScope } from '../call/reach.ts'
import type { UseCases } from '../call/use-cases.ts'
import { type Cover, filteredPage } from '../records/filtered-page.ts'
import { ownedScope } from '../records/owner-filter.ts'
import { timestampOf } from '../records/row-times.ts'
import { type Row, shownFields } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { keyListFilter } from '../sessions/session-agent.ts'
import { type RunRowData, runRows } from './kinds.ts'
import type { RunParts } from './run-use-cases.ts'

type ListCall = Parameters<UseCases['runs.list']>[0]
type Listed = ResultOf<'runs.list'>['data'][number]

/** Returns one page of runs, newest first, from their list rows. */
export const listRuns = async ({ host, records, now }: ListParts, call: Selecting): Promise<ResultOf<'runs.list'>> => {
  const { limit, cursor } = call.query
  const cover = await coverOf(call)
  if (cover === null) return { data: [], next_cursor: null }
  await host.rows.shown()
  const table = new Table(records, runRows, now)
  const page = await filteredPage(table, { idPrefix: 'run' }, { cover, page: { limit, cursor } })
  return { ...page, data: page.data.map(listedView) }
}

/** Runs that are searched at most where a search has no index, and counted at most. */
const maxSearched = 10_000
const pageLength = 100

/** A run as searches have it. */
export type FoundRun = Pick<Row<RunRowData>, 'id' | 'updated_at'> & Pick<RunRowData, 'status'>

/** Returns the newest runs of a list, at most `maxSearched` of them. */
export const searchRuns = async ({ host, records, now }: ListParts, call: Selecting): Promise<readonly FoundRun[]> => {
  const cover = await coverOf(call)
  if (cover === null) return []
  await host.rows.shown()
  const { scope, where, matches } = cover
  const table = new Table(records, runRows, now)
  const found: FoundRun[] = []
  let after: string | undefined
  for (let searched = 0; searched < maxSearched; searched += pageLength) {
    const rows = await table.list(scope, { where, limit: pageLength, ...(after !== undefined && { after }) })
    for (const row of rows) if (matches(row)) found.push(foundRun(row))
    after = rows.at(-1)?.id
    if (rows.length < pageLength) break
  }
  return found
}

/** Returns some runs by their ids, as far as the list has them. */
export const foundRuns = async (
  { host, records, now }: ListParts,
  call: Selecting,
  ids: readonly string[],
): Promise<readonly FoundRun[]> => {
  const cover = await coverOf(call)
  if (cover === null) return []
  await host.rows.shown()
  const rows = await new Table(records, runRows, now).getMany(cover.scope, ids)
  return [...rows.values()].filter(cover.matches).map(foundRun)
}

const foundRun = ({ id, updated_at, data: { status } }: Row<RunRowData>): FoundRun => ({ id, updated_at, status })

/** Returns the number of runs in a list, at most `maxSearched`. */
export const totalOfRuns = async (parts: ListParts, call: Selecting): Promise<number> => {
  const cover = await coverOf(call)
  if (cover === null) return 0
  if (!cover.isWhole) return (await searchRuns(parts, call)).length
  await parts.host.rows.shown()
  return Math.min(maxSearched, (await parts.records.total(runRows, cover.scope, cover.where)).count)
}

type ListParts = Pick<RunParts, 'host' | 'records' | 'now'>
type Selecting = Pick<ListCall, 'scope' | 'principal' | 'query'>

/** Which rows a list has; `isWhole`: an index finds no others. Null for none. */
const coverOf = async ({
  scope,
  principal,
  query,
}: Selecting): Promise<(Cover<RunRowData> & { readonly isWhole: boolean }) | null> => {
  const { limit: _limit, cursor: _cursor, tenant_id, external_user_id, ...filters } = query
  const within = ownedScope(await listedScope(principal, scope), { tenant_id, external_user_id })
  const only = keyListFilter(principal)
  const foreign = only.agent_id !== undefined && (filters.agent_id ?? only.agent_id) !== only.agent_id
  if (within === null || foreign) return null
  const wanted = Object.entries({ ...filters, ...only }).filter(
    (entry): entry is [keyof RunRowData, string] => entry[1] !== undefined,
  )
  const where = coveredWhere(runRows, within, Object.fromEntries(wanted))
  const matches = ({ data }: Row<RunRowData>) => wanted.every(([field, value]) => data[field] === value)
  return { scope: within, where, matches, isWhole: Object.keys(where).length === wanted.length }
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
