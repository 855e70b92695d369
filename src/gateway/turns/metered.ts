import type { Charge } from '../call/accounting/charge.ts'
import { routePrice } from '../call/accounting/route-price.ts'
import type { UsageData, UsageOperation } from '../ledger/usage-rows.ts'
import { priceSnapshot } from '../prices/prices.ts'

/** One answered model call, and whose it was. */
export interface MeteredCall extends Charge {
  readonly operation: UsageOperation
  readonly agentId: string | null
  readonly installationId?: string | null
  readonly sessionId?: string | null
  readonly runId?: string | null
  readonly ratePlanId?: string | null
}

/** What of a usage row stands in the commit; the rest follows from its owner. */
export type Metered = Omit<UsageData, 'external_user_id' | 'tenant_agent'>

/**
 * The field `metered` of the event by which a model's answer is stored (`EffectOutcome.stored`): from the commit that it
 * makes follows the usage row, once (usage-ledger.ts). The price is kept as it is now.
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
    provider_cost_usd: costUsd,
    // managed keys: the provider's cost and nothing on top; the caller's own: nothing
    service_charge_usd: paidByCaller ? '0' : costUsd,
    billing_mode,
    price_snapshot: snapshotOf(route),
  }
}

/** USD a token, and the day of the list that they are of; null for what the list does not have. */
const snapshotOf = (route: Charge['route']): Metered['price_snapshot'] => {
  const row = routePrice(route)
  return row === undefined ? null : priceSnapshot(row)
}
