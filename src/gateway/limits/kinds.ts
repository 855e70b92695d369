import type { AnyKind, TypedKind } from '#records/schema.ts'

/** Whose calls a limit is about. */
export type LimitSubject = 'project' | 'tenant' | 'key'

export type LimitData = {
  readonly subject: LimitSubject
  /** Id of the tenant or key; null for the project. */
  readonly subject_id: string | null
  /** What names the subject among those of the project (`subjectKey`). */
  readonly subject_key: string
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  /** USD as decimal text; a day and a month are of UTC. null: no budget. */
  readonly budget_day_usd: string | null
  readonly budget_month_usd: string | null
  readonly budget_total_usd: string | null
}

/** Limits and budgets of a project, its tenants and its keys; a tenant's go with it. */
export const limits: TypedKind<LimitData> = {
  name: 'limits',
  unique: [{ fields: ['subject_key'] }],
  filters: ['subject', 'subject_id'],
  outbox: true,
}

/** One text for each subject of a project. */
export const subjectKey = (subject: LimitSubject, id: string | null): string =>
  id === null ? subject : `${subject}:${id}`

/** What a process holds for its calls under way, and until when (ms since the epoch) if it is not heard of. */
export type Hold = {
  readonly usd: string
  readonly until: number
  /** Number of the process's write: shows whether one whose answer was lost was made. */
  readonly write: number
}

export type CounterData = {
  /** `2026-01-31`, and what was spent on it, in USD as decimal text. */
  readonly day: string
  readonly day_usd: string
  /** `2026-01`. */
  readonly month: string
  readonly month_usd: string
  readonly total_usd: string
  /** By process. */
  readonly held: { readonly [process: string]: Hold }
}

/** What was spent of budgets and credits, and what is held for calls under way. */
export const budgetCounters: TypedKind<CounterData> = { name: 'budget_counters' }

export type CreditData = {
  /** USD as decimal text that were ever granted. */
  readonly granted_usd: string
}

/** Organisations that pay for managed calls beforehand; one without a row needs no credits. The row is the organisation's. */
export const credits: TypedKind<CreditData> = { name: 'credits', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const limitKinds: readonly AnyKind[] = [limits, budgetCounters, credits]
