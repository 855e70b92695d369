import type { ProjectMemory } from '../accounts/kinds.ts'

/** Memory settings of a project; null means no limit. */
export interface MemorySettings {
  readonly stored: number | null
  readonly monthly: Allowance
  /** Per end user. */
  readonly daily: Allowance
  readonly retentionDays: { readonly user: number | null; readonly session: number | null }
  /** `local`, `none` or an embedding model of the gateway; null: `local` if the server has one. */
  readonly embedder: string | null
}

/** Operations that a period allows; null means unlimited. */
interface Allowance {
  readonly searches: number | null
  readonly writes: number | null
}

const boundless: MemorySettings = {
  stored: null,
  monthly: { searches: null, writes: null },
  daily: { searches: null, writes: null },
  retentionDays: { user: null, session: null },
  embedder: null,
}

/** Limits of the plans; a project without a plan has none. */
const plans: Readonly<Record<NonNullable<ProjectMemory['plan']>, MemorySettings>> = {
  free: {
    ...boundless,
    stored: 1_000,
    monthly: { searches: 10_000, writes: 2_000 },
    daily: { searches: 200, writes: 100 },
    retentionDays: { user: 90, session: 30 },
  },
  pro: {
    ...boundless,
    stored: 100_000,
    monthly: { searches: 500_000, writes: 100_000 },
    daily: { searches: 2_000, writes: 1_000 },
  },
  team: { ...boundless, stored: 500_000 },
}

/** Returns the effective settings. A value of the project, including null, overrides the value of its plan. */
export const settingsOf = (data: ProjectMemory = {}): MemorySettings => {
  const plan = data.plan ? plans[data.plan] : boundless
  const own = <T>(value: T | undefined, planned: T): T => (value === undefined ? planned : value)
  return {
    stored: own(data.stored_limit, plan.stored),
    monthly: {
      searches: own(data.searches_per_month, plan.monthly.searches),
      writes: own(data.writes_per_month, plan.monthly.writes),
    },
    daily: {
      searches: own(data.searches_per_user_day, plan.daily.searches),
      writes: own(data.writes_per_user_day, plan.daily.writes),
    },
    retentionDays: {
      user: own(data.user_retention_days, plan.retentionDays.user),
      session: own(data.session_retention_days, plan.retentionDays.session),
    },
    embedder: own(data.embedder, plan.embedder),
  }
}
