import type { TypedKind } from '#records/schema.ts'
import type { JsonObject } from '#storage/ports.ts'

/** Where a model was called: a session's turn, a run, the test of a draft, or a request to the gateway by what it needs. */
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

/** Whose key paid the provider: ours, the caller's own, that of the caller's own server, or no key (simulated). */
export type BillingMode = 'managed' | 'byok' | 'custom' | 'simulated'

/** One model call: what it used and what that costs. Money is exact decimal text in USD; null: the price is unknown. */
export type UsageData = {
  readonly operation: UsageOperation
  readonly provider: string
  readonly model: string
  readonly agent_id: string | null
  readonly installation_id: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  /** The plan of the installation when the call was made: what its tenant is charged by. */
  readonly rate_plan_id: string | null
  /** What lists by tenant and agent filter on; null where one of them is. */
  readonly tenant_agent: string | null
  readonly external_user_id: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  /** Parts of the input and of the output. */
  readonly cached_tokens: number
  readonly reasoning_tokens: number
  /** Part of the input that went into the provider's cache. Absent, as what follows is, on rows of calls that cannot have it. */
  readonly cache_write_tokens?: number
  /** Text made speech. */
  readonly characters?: number | null
  /** Audio made text. */
  readonly seconds?: number | null
  readonly images?: number | null
  /** The request to the gateway, as its answer named it: the request log knows more. */
  readonly request_id?: string
  /** The key that called. */
  readonly key_id?: string | null
  /** The provider counted nothing: tokens are estimates by length. */
  readonly estimated: boolean
  readonly provider_cost_usd: string | null
  readonly service_charge_usd: string | null
  readonly billing_mode: BillingMode
  /** The prices that the cost was computed from; null when there were none. */
  readonly price_snapshot: JsonObject | null
}

/** Usage rows; never changed. A row's tenant is the record's own. */
export const usageRows: TypedKind<UsageData> = {
  name: 'usage',
  erasure: 'anonymised',
  filters: ['agent_id', 'installation_id', 'external_user_id', 'model', 'operation', 'tenant_agent'],
}

/** One key of both, for one index. */
export const tenantAgent = (tenant: string, agent: string): string => `${tenant} ${agent}`

/** The prefix of usage rows' ids. */
export const usagePrefix = 'use'
