import { requestLog } from '#gateway/ledger/kinds.ts'
import { limits } from '#gateway/limits/kinds.ts'
import type { RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import { tenants } from '../tenants/kinds.ts'
import { textOf } from './listed-actor.ts'

/** Error codes with which a request is refused before a model is called. */
const refusing = [
  'budget_exceeded',
  'credit_balance_exhausted',
  'price_unknown',
  'rate_limit_exceeded',
  'provider_not_configured',
  'byok_required',
] as const

/** Newest entries of each code that are counted. */
const maxEntries = 200
const dayMs = 24 * 60 * 60 * 1000

/** Requests of one tenant, or of the project's own, that were refused with the same error in the last 24 hours. */
export interface Refusal {
  readonly code: string
  readonly tenant: string | null
  /** Name of the tenant. */
  readonly subject: string
  readonly cause: string
  readonly count: number
  /** Time of the newest one, in ms since the epoch, and its request. */
  readonly at: number
  readonly request: string
}

/** Returns what was refused in the last 24 hours, each tenant and error once. */
export const refusals = async (
  { records, now }: { readonly records: RecordStore; readonly now: () => number },
  scope: Scope,
): Promise<readonly Refusal[]> => {
  const lists = await Promise.all(
    refusing.map((error) => records.list(requestLog, scope, { where: { error }, limit: maxEntries })),
  )
  const recent = lists.flat().filter(({ created_at }) => created_at > now() - dayMs)
  const groups = Map.groupBy(recent, ({ tenant, data }) => `${tenant ?? ''} ${data.error}`)
  return Promise.all([...groups.values()].map((group) => refusalOf(records, scope, group)))
}

const refusalOf = async (records: RecordStore, scope: Scope, group: readonly StoredRecord[]): Promise<Refusal> => {
  const [newest] = group
  const tenant = newest?.tenant ?? null
  const code = textOf(newest?.data.error) ?? ''
  const row = tenant === null ? null : await records.get(tenants, scope, tenant)
  const name = textOf(row?.data.name) ?? textOf(row?.data.external_id) ?? tenant
  const model = textOf(newest?.data.asked_model) ?? ''
  const calls = group.length === 1 ? '1 call was refused' : `${group.length} calls were refused`
  return {
    ...{ code, tenant, count: group.length },
    subject: name ?? 'This project',
    cause: `${calls}: ${await reasonOf(records, scope, { code, tenant, model })}.`,
    at: newest?.created_at ?? 0,
    request: textOf(newest?.data.request_id) ?? '',
  }
}

const reasonOf = async (
  records: RecordStore,
  scope: Scope,
  { code, tenant, model }: { readonly code: string; readonly tenant: string | null; readonly model: string },
): Promise<string> => {
  if (code === 'budget_exceeded') return `the budget ${await budgetsOf(records, scope, tenant)}is used up`
  if (code === 'rate_limit_exceeded') return 'more requests or tokens per minute than the limit allows'
  if (code === 'credit_balance_exhausted') return "the organisation's credits are used up"
  if (code === 'price_unknown') return `the price of ${model} is unknown, so its budget cannot be enforced`
  return code === 'byok_required' ? `no own key for ${model}` : `no key is configured for ${model}`
}

/** Names the budgets that the tenant has, or else those of the project: `of the month `. */
const budgetsOf = async (records: RecordStore, scope: Scope, tenant: string | null): Promise<string> => {
  const where = tenant === null ? { subject: 'project' } : { subject_id: tenant }
  const [limit] = await records.list(limits, scope, { where, limit: 1 })
  const budgets = ['day', 'month', 'total'].filter((each) => typeof limit?.data[`budget_${each}_usd`] === 'string')
  return budgets.length === 0
    ? ''
    : `${budgets.map((each) => (each === 'total' ? 'in total' : `of the ${each}`)).join(' or ')} `
}
