import { tenantAgent, type UsageData, usagePrefix } from '#gateway/ledger/usage-rows.ts'
import { narrowedScope, type Scope } from '#specs/scope.ts'
import { type Cover, filteredPage } from '../records/filtered-page.ts'
import type { Page, PageQuery } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { idFloor } from '../runtime/ids.ts'
import type { UsageRange } from './usage-range.ts'

/** Whose usage is requested, as requests name it. */
export interface WhoseUsage {
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly installation_id?: string
  readonly external_user_id?: string
  readonly model?: string
  readonly operation?: UsageData['operation']
}

/** Rows that are in memory at a time. */
const pageSize = 500

/** Which rows are meant: what one index finds, and the rest of the request. */
export type UsageCover = Cover<UsageData>

/**
 * What of a project's usage a request covers. Rows are found by one index, the one that leaves least: an installation
 * is one tenant's and one agent's, so that models and operations are left to sort out among its rows (`usagePage`): an
 * index for each with each would be paid by every model call.
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

/** Every usage row of a time, oldest first, a page at a time: sums over millions of rows hold one page of them. */
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
    // an embedded store answers at once: others get their turn between two pages
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** One page of usage rows, newest first. */
export const usagePage = (
  table: Table<UsageData>,
  cover: UsageCover,
  query: Omit<PageQuery, 'where'>,
): Promise<Page<Row<UsageData>>> => filteredPage(table, usagePrefix, { cover, page: query })
