import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { cacheModes } from '#specs/resources/gateway/cache-policy.ts'

export type CachePolicyData = {
  readonly mode: (typeof cacheModes)[number]
  readonly ttl_s: number
  readonly threshold: number
  readonly any_temperature: boolean
  readonly judge_model: string | null
  readonly judge_threshold: number
  readonly judge_timeout_ms: number
}

/** Stores at most one row per project; there is none until the policy is first changed. */
export const cachePolicies: TypedKind<CachePolicyData> = { name: 'cache_policies', outbox: true }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const cachingKinds: readonly AnyKind[] = [cachePolicies]
