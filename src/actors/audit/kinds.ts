import { everyChoiceOf } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'

export type AuditData = {
  readonly action: string
  readonly actor_kind: string
  /** Id of a key or member, or hash of an end user; null for the server itself and for callers without a credential. */
  readonly actor_id: string | null
  /**
   * IP address of the actor; null for end users and for the server itself. Absent on lines of releases that did not
   * record it.
   */
  readonly actor_ip?: string | null
  readonly resource_type: string
  readonly resource_id: string
  /** Name of the resource where its id is not enough: the tool of an action. Else null. */
  readonly resource_name: string | null
  /** Names of the fields that changed. */
  readonly changes: readonly string[]
  /** Reason given by a person; absent without one. */
  readonly reason?: string
}

/**
 * Records who did what to which resource and when. Lines are never changed, and are kept when their tenant is deleted.
 */
export const auditLog: TypedKind<AuditData> = {
  name: 'audit_log',
  erasure: 'kept',
  filters: [
    ...everyChoiceOf(['action', 'actor_id', 'resource_type'], ['project', 'tenant']),
    { fields: ['resource_id'], narrow: true },
  ],
}
