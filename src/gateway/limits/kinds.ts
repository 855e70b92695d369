import type { AnyKind, TypedKind } from '#records/schema.ts'

/** The subject whose calls a limit restricts. */
export type LimitSubject = 'project' | 'tenant' | 'key'

export type LimitData = {
  readonly subject: LimitSubject
  /** Id of the tenant or key; null for the project. */
  readonly subject_id: string | null
  /** Unique key of the subject within the project (`subjectKey`). */
  readonly subject_key: string
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  /** USD as decimal text; days and months are in UTC. null: no budget. */
  readonly budget_day_usd: string | null
  readonly budget_month_usd: string | null
  readonly budget_total_usd: string | null
}

/** Limits and budgets of a project, its tenants and its keys; those of a tenant are deleted with it. */
export const limits: TypedKind<LimitData> = {
  name: 'limits',
  unique: [{ fields: ['subject_key'] }],
  filters: ['subject', 'subject_id'],
  outbox: true,
}

/** Returns the unique key of a subject within its project. */
export const subjectKey = (subject: LimitSubject, id: string | null): string =>
  id === null ? subject : `${subject}:${id}`

/**
 * The amount that a process holds for its calls in progress, and its expiry (ms since the epoch) if the process does
 * not renew it.
 */
export type Hold = {
  readonly usd: string
  readonly until: number
  /** Sequence number of the process's write; shows whether a write without an acknowledgement was made. */
  readonly write: number
}

export type CounterData = {
  /** The current day (`2026-01-31`), and what was spent on it in USD as decimal text. */
  readonly day: string
  readonly day_usd: string
  /** `2026-01`. */
  readonly month: string
  readonly month_usd: string
  readonly total_usd: string
  readonly held: { readonly [process: string]: Hold }
}

/** What was spent of budgets and credits, and what is held for calls in progress. */
export const budgetCounters: TypedKind<CounterData> = { name: 'budget_counters' }

export type CreditData = {
  /** Total of all grants, in USD as decimal text. */
  readonly granted_usd: string
}

/**
 * Organisations that prepay their managed calls; one without a row does not need credits. The row belongs to the
 * organisation.
 */
export const credits: TypedKind<CreditData> = { name: 'credits', exported: null }

/** All record kinds of limits, for `RecordStore.prepare`. */
export const limitKinds: readonly AnyKind[] = [limits, budgetCounters, credits]
