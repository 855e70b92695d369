import type { TypedKind } from '#records/schema.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import type { JsonObject } from '#storage/index.ts'

export type GuardrailData = {
  readonly name: string
  readonly description: string | null
  readonly is_default: boolean
  readonly checks: readonly (GuardCheck & JsonObject)[]
}

/** Guardrails of projects. */
export const guardrailKind: TypedKind<GuardrailData> = {
  name: 'guardrails',
  unique: [{ fields: ['name'] }],
  outbox: true,
}
