import { type Scope, tenantScope } from '../../../specs/scope.ts'
import { idFloor } from '../ids.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import type { UsageData } from './kinds.ts'
import { usagePrefix } from './usage-ledger.ts'
import type { UsageRange } from './usage-range.ts'

/** Whose usage is asked for, as requests name it. */
export interface WhoseUsage {
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly installation_id?: string
  readonly external_user_id?: string
  readonly model?: string
  readonly operation?: UsageData['operation']
}

/** Rows that are in memory at a time. */
const pageSize = 1000

const filters = ['agent_id', 'installation_id', 'external_user_id', 'model', 'operation'] as const

/** What of a project's usage a request covers: a scope, and equality on declared filters. */
export const coverOf = (scope: Scope, whose: WhoseUsage): UsageCover => {
  const where: Record<string, string> = {}
  for (const name of filters) {
    const value = whose[name]
    if (value !== undefined) where[name] = value
  }
  return { scope: whose.tenant_id === undefined ? scope : tenantScope(scope.project, whose.tenant_id), where }
}

/** Which rows are meant. */
export interface UsageCover {
  readonly scope: Scope
  readonly where: Readonly<Record<string, string>>
}

/** Every usage row of a time, oldest first, a page at a time: sums over millions of rows hold a thousand of them. */
export async function* usageIn(
  table: Table<UsageData>,
  cover: UsageCover,
  { fromMs, toMs }: UsageRange,
): AsyncGenerator<readonly Row<UsageData>[]> {
  const end = idFloor(usagePrefix, toMs)
  for (let after = idFloor(usagePrefix, fromMs); ; ) {
    const page = await table.list(cover.scope, { where: cover.where, after, limit: pageSize, ascending: true })
    const inside = page.filter(({ id }) => id < end)
    if (inside.length > 0) yield inside
    const last = inside.at(-1)
    if (last === undefined || inside.length < pageSize) return
    after = last.id
  }
}
