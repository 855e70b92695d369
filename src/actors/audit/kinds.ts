import { everyChoiceOf } from '#storage/list-index.ts'
import type { TypedKind } from '../records/schema.ts'

export type AuditData = {
  readonly action: string
  readonly actor_kind: string
  /** Key, member, or hash of an end user; null for the server itself and for callers without a credential. */
  readonly actor_id: string | null
  /** From where; null for end users, and for the server itself. Absent on lines of releases that did not say it. */
  readonly actor_ip?: string | null
  readonly resource_type: string
  readonly resource_id: string
  /** What the id alone does not say: the tool of an action. */
  readonly resource_name: string | null
  /** Names of the fields that changed. */
  readonly changes: readonly string[]
  /** What a person gave as the reason; absent where no one gave one. */
  readonly reason?: string
}

/** Who did what to which resource and when. A line is never changed, and stays when its tenant is deleted. */
export const auditLog: TypedKind<AuditData> = {
  name: 'audit_log',
  erasure: 'kept',
  filters: [
    ...everyChoiceOf(['action', 'actor_id', 'resource_type'], ['project', 'tenant']),
    { fields: ['resource_id'], narrow: true },
  ],
}
