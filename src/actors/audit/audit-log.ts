import type { MessageRecord, RecordStore } from '#storage/index.ts'
import { derivedId, isObject } from '../runtime/index.ts'
import type { Sink } from '../runtime/internal.ts'
import { type AuditData, auditLog } from './kinds.ts'

/**
 * Sink `audit`: writes each message as one line. The line's id is derived from the message's, so it is written once.
 */
export const auditLines =
  (records: RecordStore): Sink =>
  async (owner, message) => {
    const { at, project } = message.event
    const createdAt = typeof at === 'number' ? at : 0
    await records.insert(auditLog, {
      id: derivedId('aud', createdAt, message.id),
      project: typeof project === 'string' ? project : owner.project,
      tenant: owner.tenant,
      user: null,
      version: 1,
      created_at: createdAt,
      updated_at: createdAt,
      expires_at: null,
      data: lineOf(message),
    })
  }

const lineOf = ({ event }: MessageRecord): AuditData => {
  const by = isObject(event.by) ? event.by : {}
  const resource = isObject(event.resource) ? event.resource : {}
  return {
    action: textOr(event.action, ''),
    actor_kind: textOr(by.kind, 'system'),
    actor_id: typeof by.id === 'string' ? by.id : null,
    actor_ip: typeof by.address === 'string' ? by.address : null,
    resource_type: textOr(resource.type, ''),
    resource_id: textOr(resource.id, ''),
    resource_name: typeof resource.name === 'string' ? resource.name : null,
    changes: Array.isArray(event.changes) ? event.changes.filter((field) => typeof field === 'string') : [],
    ...(typeof event.reason === 'string' && { reason: event.reason }),
  }
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)
