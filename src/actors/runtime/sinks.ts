import type { MessageRecord } from '#storage/ports.ts'
import type { Owner } from './step/actor-state.ts'

/**
 * Takes messages of durable commits that are for no actor. Called until it resolves, again after a crash, with the same
 * `message.id`: it derives the ids of what it makes from that, and so acts once (`derivedId`). A `ServiceError` ends
 * the trying.
 *
 * @param again it may have been called with the message before, and what it made may have been removed since (`Creation`).
 */
export type Sink = (
  owner: Pick<Owner, 'project' | 'tenant' | 'user'>,
  message: MessageRecord,
  again: boolean,
) => Promise<void>

/** Sinks by the name that messages are sent to; no id of an actor looks like one. */
export type Sinks = Readonly<Record<string, Sink>>

/** Takes what src/actors/records/audit-note.ts makes to the audit log. */
export const auditSink = 'audit'

/** Takes `{ type: 'notify', at, event_type, data }` to the project's webhooks (src/actors/webhooks/notify.ts). */
export const webhookSink = 'webhooks'
