import { type UsageData, usagePrefix, usageRows } from '#gateway/ledger/usage-rows.ts'
import type { ResultOf } from '#specs/index.ts'
import { nextSlice, runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import { timeOf } from '../call/query-time.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { timestampOf } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { type Host, idFloor } from '../runtime/internal.ts'
import { tenants } from '../tenants/kinds.ts'
import { type Invoice, type InvoiceFacts, invoiceGroupings, invoiceLines } from './invoice.ts'
import { invoiceCsv } from './invoice-csv.ts'
import { type RatePlanData, ratePlans } from './kinds.ts'
import { coverOf, usageIn, usagePage, type WhoseUsage } from './read-usage.ts'
import { rangeOf, type UsageRange } from './usage-range.ts'
import { GroupedUsage, type Grouping, groupings } from './usage-sums.ts'

export interface UsageParts extends Pick<Services, 'now' | 'records'> {
  readonly host: Pick<Host, 'rows'>
}

type Summary = ResultOf<'usage.summary'>['data'][number]
type UsageRow = ResultOf<'usage.events'>['data'][number]

/** Use-cases of usage: summaries, single calls, and invoices. */
export const usageUseCases = ({ host, records, now }: UsageParts): UseCasesOf<'usage'> => {
  const table = new Table(records, usageRows, now)
  const summed = async (
    scope: Scope,
    {
      whose,
      range,
      groups,
    }: { readonly whose: WhoseUsage; readonly range: UsageRange; readonly groups: readonly Grouping[] },
  ) => {
    await host.rows.shown()
    const usage = new GroupedUsage(groups)
    for await (const rows of usageIn(table, coverOf(scope, whose), range)) usage.add(rows)
    return usage
  }
  return {
    'usage.summary': async ({ scope, query }) => {
      const range = rangeOf(query, now())
      const groups = [...new Set(query.group_by)]
      const usage = await summed(scope, { whose: query, range, groups })
      const data = await runInSlices(summaries(usage, groups))
      return { ...rangeView(range), group_by: groups, data, totals: usage.totals.view }
    },
    'usage.events': async ({ scope, query }) => {
      await host.rows.shown()
      const { data, next_cursor } = await usagePage(table, coverOf(scope, query), pageQuery(query))
      return { data: data.map(view), next_cursor }
    },
    'usage.export': async ({ scope, query }) => {
      const range = rangeOf(query, now())
      const usage = await summed(scope, { whose: query, range, groups: invoiceGroupings })
      const standard = await standardPlan(new Table(records, ratePlans, now), scope, {
        planId: query.rate_plan_id,
        range,
      })
      const facts = await invoiceFacts({ records, now }, scope, { usage, standard })
      const head = {
        project_id: scope.project,
        currency: 'USD',
        ...rangeView(range),
        issued_at: timestampOf(now()),
      } as const
      const invoice: Invoice = { ...head, ...(await runInSlices(invoiceLines(usage, facts))) }
      if (query.format === 'json') return { json: invoice }
      const bytes = await runInSlices(invoiceCsv(invoice))
      return { bytes: { contentType: 'text/csv; charset=utf-8', bytes, headers: [attachment] } }
    },
  }
}

/** Builds the groups of a summary, one per step. */
function* summaries(usage: GroupedUsage, groups: readonly Grouping[]): SlicedWork<readonly Summary[]> {
  const all: Summary[] = []
  for (const { values, sums } of usage.groups()) {
    all.push({ ...named(groups, values), ...sums.view })
    yield
  }
  return all
}

const attachment = ['content-disposition', 'attachment; filename="invoice.csv"'] as const

const rangeView = ({ fromMs, toMs }: UsageRange) => ({ from: timestampOf(fromMs), to: timestampOf(toMs) })

const pageQuery = ({ limit, cursor, from, to }: Parameters<UseCases['usage.events']>[0]['query']) => ({
  limit,
  cursor,
  ...(to !== undefined && { ceiling: idFloor(usagePrefix, timeOf('to', to)) }),
  ...(from !== undefined && { floor: idFloor(usagePrefix, timeOf('from', from)) }),
})

/** Maps the values of a group to the fields of the response. */
const named = (
  groups: readonly Grouping[],
  values: readonly (string | null)[],
): Readonly<Record<string, string | null>> =>
  Object.fromEntries(groups.map((name, index) => [groupings[name].field, values[index] ?? null]))

const view = (row: Row<UsageData>): UsageRow => {
  const { rate_plan_id: _plan, tenant_agent: _key, ...data } = row.data
  return { id: row.id, at: timestampOf(row.created_at), tenant_id: row.tenant, ...notCounted, ...data }
}

/** Defaults of fields that rows omit when they do not apply to the call. */
const notCounted = {
  cache_write_tokens: 0,
  characters: null,
  seconds: null,
  images: null,
  request_id: null,
  key_id: null,
  interrupted: false,
  cache_hit: false,
  saved_usd: null,
} as const

/**
 * Returns the plan for usage that names no plan: the requested one, else the newest default plan created before the end
 * of the range.
 */
const standardPlan = async (
  plans: Table<RatePlanData>,
  scope: Scope,
  { planId, range: { toMs } }: { readonly planId: string | undefined; readonly range: UsageRange },
): Promise<Row<RatePlanData> | null> => {
  if (planId === undefined) {
    const query = { where: { is_default: true }, after: idFloor('rp', toMs), limit: 1 }
    return (await plans.list(projectScope(scope.project), query))[0] ?? null
  }
  return orNotFound(await plans.get(projectScope(scope.project), planId), 'rate_plan_id')
}

/** Looks up the plans and tenants that the lines refer to. */
const invoiceFacts = async (
  { records, now }: Pick<UsageParts, 'records' | 'now'>,
  scope: Scope,
  { usage, standard }: { readonly usage: GroupedUsage; readonly standard: Row<RatePlanData> | null },
): Promise<InvoiceFacts> => {
  const project = projectScope(scope.project)
  const planTable = new Table(records, ratePlans, now)
  const tenantTable = new Table(records, tenants, now)
  const groups = usage.groups()
  const named = (at: number) => new Set(groups.flatMap(({ values }) => values[at] ?? []))
  const plans = new Map<string, Row<RatePlanData>>(standard === null ? [] : [['', standard]])
  const external = new Map<string, string>()
  for (const id of named(5)) {
    const row = await planTable.get(project, id)
    if (row !== null) plans.set(id, row)
  }
  for (const id of named(0)) {
    const row = await tenantTable.get(project, id)
    if (row !== null) external.set(id, row.data.external_id)
    // an embedded store answers synchronously, so yield to the event loop between lookups
    await nextSlice()
  }
  return { plans, tenants: external }
}
