import type { AnyKind, TypedKind } from '#records/schema.ts'
import type { PiiType, RedactionTarget } from '#specs/resources/gateway/redaction.ts'

export type RedactionPolicyData = {
  readonly enabled: boolean
  readonly types: readonly PiiType[]
  readonly apply_to: readonly RedactionTarget[]
  readonly restore: boolean
  readonly phone_region: string
  /** Absent in rows of before: there `input` stands for embeddings and speech too. */
  readonly targets_apart?: boolean
}

/** At most one a project, under an id made of the project's; none until it is changed. */
export const redactionPolicies: TypedKind<RedactionPolicyData> = { name: 'redaction_policies', outbox: true }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const redactionKinds: readonly AnyKind[] = [redactionPolicies]
