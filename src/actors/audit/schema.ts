import type { Json } from '#storage/index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import { isObject } from '../runtime/index.ts'

const kinds: readonly unknown[] = ['secret_key', 'agent_key', 'client_token', 'dashboard', 'public', 'system']

/** Whether a stored value is an audit actor. */
export const isAuditActor = (value: Json | undefined): value is AuditActor =>
  isObject(value) && kinds.includes(value.kind) && (value.id === null || typeof value.id === 'string')
