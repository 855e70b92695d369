import type { RedactionPolicy } from './redaction.ts'

/** How a project reuses answers; one that stores none has no such policy. */
export interface CachePolicy {
  readonly mode: 'on_request' | 'exact' | 'semantic'
  readonly ttlMs: number
  readonly threshold: number
  readonly anyTemperature: boolean
}

/** What applies to the calls of a project. */
export interface CallPolicies {
  /** null: nothing is redacted. */
  readonly redaction: RedactionPolicy | null
  /** null: no answer is stored. */
  readonly cache: CachePolicy | null
}
