import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import type { JsonObject, MessageRecord, StoredEvent, StoredRecord } from '#storage/index.ts'
import { auditSink, webhookSink } from '../runtime/internal.ts'
import { type AuditNote, auditEvent } from './audit-note.ts'

/**
 * A message about a changed record. It is stored in the record's own document and delivered at least once, also after a
 * crash, with the same id each time.
 *
 * - `audit`: an entry of the audit log.
 * - `webhook`: an event for the project's webhooks, `data` as specs/events/webhook-events.ts declares it.
 * - `message`: an event for an actor; `create` with `input` creates the actor, with the record's owner.
 */
export type Notice =
  | (AuditNote & { readonly kind: 'audit' })
  | { readonly kind: 'webhook'; readonly event_type: WebhookEventType; readonly data: JsonObject }
  | { readonly kind: 'message'; readonly to: string; readonly event: StoredEvent }

/**
 * Returns the outbox of a record's next version: the undelivered messages of the last version, then `notices`. A
 * message id consists of record, version and time of the change, so it is the same in every delivery, and a different
 * one when a removed record is created again under its old id.
 */
export const outboxOf = (
  { id, version, updated_at: at }: Pick<StoredRecord, 'id' | 'version' | 'updated_at'>,
  undelivered: readonly MessageRecord[],
  notices: readonly Notice[],
): readonly MessageRecord[] => [
  ...undelivered,
  ...notices.map((notice, n) => ({ id: `${id}@${version}.${at.toString(36)}:${n}`, ...addressed(notice, at) })),
]

const addressed = (notice: Notice, at: number): Omit<MessageRecord, 'id'> => {
  if (notice.kind === 'message') return { to: notice.to, event: notice.event }
  if (notice.kind === 'audit') return { to: auditSink, event: auditEvent(notice, at) }
  const { event_type, data } = notice
  return { to: webhookSink, event: { type: 'notify', at, event_type, data } }
}
