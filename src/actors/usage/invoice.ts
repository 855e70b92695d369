import { type Amount, amountOf, percentOf, perMillion, textOf, zero } from '#gateway/prices/money.ts'
import type { ResultOf } from '#specs/index.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { Row } from '../records/schema.ts'
import type { RatePlanData } from './kinds.ts'
import type { GroupedUsage, Grouping, UsageGroup } from './usage-sums.ts'

type Export = ResultOf<'usage.export'>
/** An invoice, as the API returns it. */
export type Invoice = Export
export type InvoiceLine = Invoice['lines'][number]

/** The groupings of an invoice's lines, in the order of `UsageGroup.values`. */
export const invoiceGroupings = [
  'tenant',
  'agent',
  'installation',
  'provider',
  'model',
  'rate_plan',
] as const satisfies readonly Grouping[]

/** Data that the lines refer to. */
export interface InvoiceFacts {
  /** Rate plans by id: those that rows name, and under `''` the plan for rows that name none. */
  readonly plans: ReadonlyMap<string, Row<RatePlanData>>
  /** External ids of tenants by their ids; deleted tenants are missing. */
  readonly tenants: ReadonlyMap<string, string>
}

interface Charges {
  readonly markup: Amount
  readonly tokens: Amount
  readonly calls: Amount
  readonly total: Amount
}

/**
 * Computes the lines of an invoice and their totals, one line per step. All amounts are exact, and each total is the
 * sum of the lines.
 */
export function* invoiceLines(usage: GroupedUsage, facts: InvoiceFacts): SlicedWork<Pick<Invoice, 'lines' | 'totals'>> {
  const lines: InvoiceLine[] = []
  const sums = { markup: zero, tokens: zero, calls: zero, total: zero }
  for (const group of usage.groups()) {
    const { plan, charges } = chargedBy(group, facts.plans)
    lines.push(lineOf(group, { plan, charges, facts }))
    for (const name of ['markup', 'tokens', 'calls', 'total'] as const) sums[name] = sums[name].plus(charges[name])
    yield
  }
  const totals = {
    ...usage.totals.view,
    markup_usd: textOf(sums.markup),
    token_charge_usd: textOf(sums.tokens),
    call_charge_usd: textOf(sums.calls),
    total_usd: textOf(sums.total),
  }
  return { lines, totals }
}

const chargedBy = ({ values, sums }: UsageGroup, plans: InvoiceFacts['plans']) => {
  const plan = plans.get(values[5] ?? '') ?? null
  const { calls, cache_hits, input_tokens, output_tokens } = sums.view
  const rate = (
    field: 'markup_percent' | 'input_per_million_usd' | 'output_per_million_usd' | 'per_call_usd',
  ): Amount => amountOf(plan?.data[field] ?? '0')
  const markup = percentOf(sums.serviceCharge, rate('markup_percent'))
  const input = perMillion(rate('input_per_million_usd'), input_tokens)
  const tokens = input.plus(perMillion(rate('output_per_million_usd'), output_tokens))
  const perCall = rate('per_call_usd').times(calls - cache_hits)
  const total = sums.serviceCharge.plus(markup).plus(tokens).plus(perCall)
  return { plan, charges: { markup, tokens, calls: perCall, total } }
}

const lineOf = (
  { values, sums }: UsageGroup,
  {
    plan,
    charges: { markup, tokens, calls, total },
    facts: { tenants },
  }: { readonly plan: Row<RatePlanData> | null; readonly charges: Charges; readonly facts: InvoiceFacts },
): InvoiceLine => {
  const [tenant = null, agent = null, installation = null, provider = null, model = null] = values
  return {
    tenant_id: tenant,
    tenant_external_id: tenants.get(tenant ?? '') ?? null,
    agent_id: agent,
    installation_id: installation,
    provider: provider ?? '',
    model: model ?? '',
    ...sums.view,
    rate_plan_id: plan?.id ?? null,
    rate_plan: plan?.data.name ?? null,
    markup_percent: plan?.data.markup_percent ?? '0',
    markup_usd: textOf(markup),
    token_charge_usd: textOf(tokens),
    call_charge_usd: textOf(calls),
    total_usd: textOf(total),
  }
}
