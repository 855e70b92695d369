import { tenantAgent, type UsageData, usagePrefix } from '#gateway/ledger/usage-rows.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { narrowedScope, type Scope } from '#storage/index.ts'
import { type Cover, filteredPage } from '../records/filtered-page.ts'
import type { Page, PageQuery } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { idFloor } from '../runtime/internal.ts'
import type { UsageRange } from './usage-range.ts'

/** Filters of usage, as given in requests. */
export interface WhoseUsage {
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly installation_id?: string
  readonly external_user_id?: string
  readonly model?: string
  readonly operation?: UsageData['operation']
}

/** Rows in memory at a time. */
const pageSize = 500

/** The rows that a request covers: an index condition, and a predicate for the remaining filters. */
export type UsageCover = Cover<UsageData>

/**
 * Returns the usage that a request covers. Rows are found by the most selective single index. For instance, an
 * installation belongs to one tenant and one agent, so models and operations are filtered among its rows (`usagePage`).
 * Indexes on all combinations would make every model call more expensive.
 */
export const coverOf = (scope: Scope, whose: WhoseUsage): UsageCover => ({
  ...foundBy(scope, whose),
  matches: ({ tenant, data }) =>
    (whose.tenant_id === undefined || whose.tenant_id === tenant) &&
    fields.every((name) => whose[name] === undefined || whose[name] === data[name]),
})

const fields = ['agent_id', 'installation_id', 'external_user_id', 'model', 'operation'] as const

const foundBy = (scope: Scope, whose: WhoseUsage): Pick<UsageCover, 'scope' | 'where'> => {
  const { tenant_id, agent_id, installation_id, external_user_id, model, operation } = whose
  if (installation_id !== undefined) return { scope, where: { installation_id } }
  if (external_user_id !== undefined) {
    return tenant_id === undefined
      ? { scope, where: { external_user_id } }
      : { scope: narrowedScope(scope, { tenant: tenant_id, user: external_user_id }), where: {} }
  }
  if (agent_id !== undefined) {
    return { scope, where: tenant_id === undefined ? { agent_id } : { tenant_agent: tenantAgent(tenant_id, agent_id) } }
  }
  if (tenant_id !== undefined) return { scope: narrowedScope(scope, { tenant: tenant_id, user: null }), where: {} }
  if (model !== undefined) return { scope, where: { model } }
  return { scope, where: operation === undefined ? {} : { operation } }
}

/**
 * Yields the usage rows of a range, oldest first, a page at a time, so that sums over millions of rows hold one page in
 * memory.
 */
export async function* usageIn(
  table: Table<UsageData>,
  cover: UsageCover,
  { fromMs, toMs }: UsageRange,
): AsyncGenerator<readonly Row<UsageData>[]> {
  const end = idFloor(usagePrefix, toMs)
  for (let after = idFloor(usagePrefix, fromMs); ; ) {
    const page = await table.list(cover.scope, { where: cover.where, after, limit: pageSize, ascending: true })
    const inside = page.filter(({ id }) => id < end)
    const matching = inside.filter(cover.matches)
    if (matching.length > 0) yield matching
    const last = inside.at(-1)
    if (last === undefined || inside.length < pageSize) return
    after = last.id
    // an embedded store answers synchronously, so yield to the event loop between pages
    await nextSlice()
  }
}

/** Returns one page of usage rows, newest first. */
export const usagePage = (
  table: Table<UsageData>,
  cover: UsageCover,
  query: Omit<PageQuery, 'where'>,
): Promise<Page<Row<UsageData>>> => filteredPage(table, { idPrefix: usagePrefix }, { cover, page: query })
