import type { Charge } from '../call/accounting/charge.ts'
import { routePrice } from '../call/accounting/route-price.ts'
import type { UsageData, UsageOperation } from '../ledger/usage-rows.ts'
import { priceSnapshot } from '../prices/prices.ts'

/** One answered model call, with its origin. */
export interface MeteredCall extends Charge {
  readonly operation: UsageOperation
  readonly agentId: string | null
  readonly installationId?: string | null
  readonly sessionId?: string | null
  readonly runId?: string | null
  readonly ratePlanId?: string | null
  /** Set for an answer that a crash cut. */
  readonly interrupted?: true
}

/** The part of a usage row that is stored in the commit; the rest is derived from its owner. */
export type Metered = Omit<UsageData, 'external_user_id' | 'tenant_agent'>

/**
 * Returns the field `metered` of the event by which a model's answer is stored (`EffectOutcome.stored`). The usage row
 * is derived from that commit, exactly once (usage-ledger.ts). The current price is stored with it.
 */
export const metered = (call: MeteredCall): Metered => {
  const { route, usage, costUsd } = call
  const { provider, model, source: billing_mode } = route
  const paidByCaller = billing_mode === 'byok' || billing_mode === 'custom'
  return {
    operation: call.operation,
    provider,
    model,
    agent_id: call.agentId,
    installation_id: call.installationId ?? null,
    session_id: call.sessionId ?? null,
    run_id: call.runId ?? null,
    rate_plan_id: call.ratePlanId ?? null,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
    reasoning_tokens: usage.reasoningTokens,
    estimated: usage.estimated ?? false,
    ...(call.interrupted === true && { interrupted: true as const }),
    provider_cost_usd: costUsd,
    // installation's key: the provider's cost without a surcharge; the caller's own key: nothing
    service_charge_usd: paidByCaller ? '0' : costUsd,
    billing_mode,
    price_snapshot: snapshotOf(route),
  }
}

/** Prices in USD per token and the date of the price list; null when the list has no price. */
const snapshotOf = (route: Charge['route']): Metered['price_snapshot'] => {
  const row = routePrice(route)
  return row === undefined ? null : priceSnapshot(row)
}
