import type { MessageRecord } from '#storage/ports.ts'
import type { Owner } from './step/actor-state.ts'

/**
 * Receives messages of durable commits that are not addressed to an actor. It is called until it resolves, and possibly
 * again after a crash, with the same `message.id`: a sink derives the ids of what it creates from that id
 * (`derivedId`), and so acts only once. A refusal (`RefusedError`) that does not pass ends the retries.
 *
 * @param again whether the sink may have been called with the message before, and what it created may have been removed
 *   since (`Creation`).
 */
export type Sink = (
  owner: Pick<Owner, 'project' | 'tenant' | 'user'>,
  message: MessageRecord,
  again: boolean,
) => Promise<void>

/** Sinks by the name to which messages are sent; no actor id looks like such a name. */
export type Sinks = Readonly<Record<string, Sink>>

/** Writes the audit events of src/actors/records/audit-note.ts to the audit log. */
export const auditSink = 'audit'

/** Sends `{ type: 'notify', at, event_type, data }` to the project's webhooks (src/actors/webhooks/notify.ts). */
export const webhookSink = 'webhooks'
