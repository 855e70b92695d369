import type { TypedKind } from '../records/schema.ts'

export type RatePlanData = {
  readonly name: string
  readonly description: string | null
  /** Percentage added to the provider's cost, as decimal text. */
  readonly markup_percent: string
  /** USD per million tokens, as decimal text; in addition to the provider's cost and the mark-up. */
  readonly input_per_million_usd: string
  readonly output_per_million_usd: string
  /** USD per model call, as decimal text. */
  readonly per_call_usd: string
  readonly is_default: boolean
}

/** Prices that a project charges its tenants for usage. Plans are never changed, so an invoice can be reproduced. */
export const ratePlans: TypedKind<RatePlanData> = {
  name: 'rate_plans',
  filters: ['is_default'],
  outbox: true,
}
