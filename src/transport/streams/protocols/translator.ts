import type { StreamEndReason } from '#specs/events/events.ts'
import type { LogEvent } from '#storage/index.ts'

/** Writes one stream of a session's events in the protocol of another product's client. Pure, with the state of the stream. */
export interface Translator {
  /** The frames of some events; '' for none. */
  frames(events: readonly LogEvent[]): string
  /** The last frames of a stream that was not cut. */
  end(reason: 'done' | StreamEndReason): string
}

/** Why a stream ends early, for people. */
export const endedWords: Readonly<Record<StreamEndReason, string>> = {
  credential_ended: 'The credential of the stream has expired or was revoked.',
  deleted: 'The session was deleted.',
}

/** An event whose data is this value. */
export const dataFrame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
