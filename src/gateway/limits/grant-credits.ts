import { Table } from '#records/table.ts'
import { organizationScope, type RecordStore } from '#storage/index.ts'
import { amountOf, textOf } from '../prices/money.ts'
import { budgetCounters, credits } from './kinds.ts'
import { counterId } from './limit-admission.ts'
import { creditsId } from './limit-cache.ts'

/** Credits of an organisation, in USD as decimal text. */
export interface CreditAccount {
  /** Total of all grants. */
  readonly granted: string
  readonly spent: string
  readonly balance: string
}

/** Returns the credits of an organisation; null when it does not need credits. */
export const creditsOf = async (
  records: RecordStore,
  now: () => number,
  organization: string,
): Promise<CreditAccount | null> => {
  const scope = organizationScope(organization)
  const row = await new Table(records, credits, now).get(scope, creditsId(organization))
  if (row === null) return null
  const counter = await new Table(records, budgetCounters, now).get(scope, counterId(row.id))
  const spent = counter?.data.total_usd ?? '0'
  const { granted_usd: granted } = row.data
  return { granted, spent, balance: textOf(amountOf(granted).minus(amountOf(spent))) }
}

/**
 * Grants further credits to an organisation. From the first grant on, its managed calls are paid by credits only;
 * running servers apply the change within some seconds.
 */
export const grantCredits = async (
  records: RecordStore,
  now: () => number,
  { organization, usd }: { readonly organization: string; readonly usd: string },
): Promise<void> => {
  const table = new Table(records, credits, now)
  const id = creditsId(organization)
  const made = await table.insert({ id, project: organization, data: { granted_usd: usd } })
  if (made !== null) return
  await table.change(organizationScope(organization), id, {
    edit: ({ data }) => ({
      granted_usd: textOf(amountOf(data.granted_usd).plus(amountOf(usd))),
    }),
  })
}

/** Removes the credits of an organisation, so that it no longer needs any. @returns false when it had none. */
export const ungateCredits = async (records: RecordStore, organization: string): Promise<boolean> => {
  const scope = organizationScope(organization)
  const id = creditsId(organization)
  await records.remove(budgetCounters, scope, counterId(id))
  return records.remove(credits, scope, id)
}
