import type { KeySource } from '../gateway/calls/routes.ts'
import { priceOf, priceSnapshot } from '../gateway/prices.ts'
import type { ModelUsage } from '../gateway/provider-port.ts'
import type { TurnModel } from '../gateway/routing/turn-models.ts'
import type { BillingMode, UsageData, UsageOperation } from './kinds.ts'

/** One answered model call, and whose it was. */
export interface MeteredCall {
  readonly operation: UsageOperation
  /** `ModelProvider.id`. */
  readonly provider: string
  readonly model: string
  readonly usage: ModelUsage
  /** USD as exact decimal text; null when the price is unknown. */
  readonly cost: string | null
  /** Whose key served; by the provider when absent. */
  readonly source?: KeySource
  /** What the price list knows the model by; null: nothing of the list is its price. `model` when absent. */
  readonly pricedAs?: string | null
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
  const { usage, cost, provider } = call
  const billing_mode: BillingMode = call.source ?? (provider === 'simulated' ? 'simulated' : 'managed')
  const paidByCaller = billing_mode === 'byok' || billing_mode === 'custom'
  return {
    operation: call.operation,
    provider,
    model: call.model,
    agent_id: call.agentId,
    installation_id: call.installationId ?? null,
    session_id: call.sessionId ?? null,
    run_id: call.runId ?? null,
    rate_plan_id: call.ratePlanId ?? null,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    estimated: usage.estimated ?? false,
    provider_cost_usd: cost,
    // managed keys: the provider's cost and nothing on top; the caller's own: nothing (interface "Voice", billing)
    service_charge_usd: paidByCaller ? '0' : cost,
    billing_mode,
    price_snapshot: call.pricedAs === null ? null : snapshotOf(call.pricedAs ?? call.model),
  }
}

/** What a model call that was answered says of its model and price. */
export const billOf = (
  { provider, model, source, pricedAs = model }: TurnModel,
  usage: ModelUsage,
  costOf: (model: string, usage: ModelUsage) => string | null,
): Pick<MeteredCall, 'provider' | 'model' | 'usage' | 'cost' | 'source' | 'pricedAs'> => ({
  ...{ provider: provider.id, model, usage, pricedAs },
  cost: pricedAs === null ? null : costOf(pricedAs, usage),
  ...(source !== undefined && { source }),
})

/** USD a token, and the day of the list that they are of. */
const snapshotOf = (model: string): Metered['price_snapshot'] => {
  const row = priceOf(model)
  return row === undefined ? null : priceSnapshot(row)
}
