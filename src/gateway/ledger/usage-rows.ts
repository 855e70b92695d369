import type { TypedKind } from '#records/schema.ts'
import type { JsonObject } from '#storage/index.ts'

/**
 * Origin of a model call: a session's turn, a run, the test of a draft, memory, or a request to the gateway by its
 * need.
 */
export type UsageOperation =
  | 'session.turn'
  | 'run'
  | 'agent_version.test'
  | 'chat'
  | 'vision'
  | 'embedding'
  | 'speech'
  | 'transcription'
  | 'image'
  | 'memory'

/**
 * Who paid the provider: `managed`: the installation's key; `byok`: the caller's own key; `custom`: the caller's own
 * server; `simulated`: no key.
 */
type BillingMode = 'managed' | 'byok' | 'custom' | 'simulated'

/** One model call: what it used and what that costs. Money is exact decimal text in USD; null: the price is unknown. */
export type UsageData = {
  readonly operation: UsageOperation
  readonly provider: string
  readonly model: string
  readonly agent_id: string | null
  readonly installation_id: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  /** The installation's rate plan at the time of the call, by which its tenant is charged. */
  readonly rate_plan_id: string | null
  /** Combined key for filtering by tenant and agent; null when either is null. */
  readonly tenant_agent: string | null
  readonly external_user_id: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  /** Included in the input and in the output, respectively. */
  readonly cached_tokens: number
  readonly reasoning_tokens: number
  /**
   * Part of the input that was written to the provider's cache. This and the following optional fields are absent when
   * they do not apply to a call.
   */
  readonly cache_write_tokens?: number
  /** Characters converted to speech. */
  readonly characters?: number | null
  /** Seconds of audio converted to text. */
  readonly seconds?: number | null
  readonly images?: number | null
  /** Id of the gateway request, as in its answer; the request log has the details. */
  readonly request_id?: string
  /** Id of the API key of the request. */
  readonly key_id?: string | null
  /** Whether a stored answer was given, so that nothing was used; `saved_usd` is what it had cost. */
  readonly cache_hit?: boolean
  readonly saved_usd?: string | null
  /** Whether the provider reported no usage, so that tokens are estimated from the length. */
  readonly estimated: boolean
  /** Set for a model call that a crash cut: tokens are estimated from the request and the text that was durable. */
  readonly interrupted?: true
  readonly provider_cost_usd: string | null
  readonly service_charge_usd: string | null
  readonly billing_mode: BillingMode
  /** The prices that the cost was computed from; null when there were none. */
  readonly price_snapshot: JsonObject | null
}

/** Usage rows; they never change. The tenant of a row is that of its record. */
export const usageRows: TypedKind<UsageData> = {
  name: 'usage',
  erasure: 'anonymised',
  filters: ['agent_id', 'installation_id', 'external_user_id', 'model', 'operation', 'tenant_agent'],
}

/** Combines tenant and agent into one key, for one index. */
export const tenantAgent = (tenant: string, agent: string): string => `${tenant} ${agent}`

/** Prefix of the ids of usage rows. */
export const usagePrefix = 'use'
