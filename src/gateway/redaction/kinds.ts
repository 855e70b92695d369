import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { PiiType, RedactionTarget } from '#specs/resources/gateway/redaction.ts'

export type RedactionPolicyData = {
  readonly enabled: boolean
  readonly types: readonly PiiType[]
  readonly apply_to: readonly RedactionTarget[]
  readonly restore: boolean
  readonly phone_region: string
  /** Absent in rows of earlier versions, in which `input` also covers embeddings and speech. */
  readonly targets_apart?: boolean
}

/**
 * Stores at most one row per project, under an id derived from the project's; there is no row until the policy is first
 * changed.
 */
export const redactionPolicies: TypedKind<RedactionPolicyData> = { name: 'redaction_policies', outbox: true }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const redactionKinds: readonly AnyKind[] = [redactionPolicies]
