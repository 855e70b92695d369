import type { TypedKind } from '../records/schema.ts'

export type RatePlanData = {
  readonly name: string
  readonly description: string | null
  /** Percent on top of the provider's cost, as decimal text. */
  readonly markup_percent: string
  /** USD for a million tokens, as decimal text; in addition to the provider's cost and mark-up. */
  readonly input_per_million_usd: string
  readonly output_per_million_usd: string
  /** USD for each model call, as decimal text. */
  readonly per_call_usd: string
  readonly is_default: boolean
}

/** What a project's tenants are charged for what their agents use. Never changed: an invoice can be made again. */
export const ratePlans: TypedKind<RatePlanData> = {
  name: 'rate_plans',
  filters: ['is_default'],
  outbox: true,
}
