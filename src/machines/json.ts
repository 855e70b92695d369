/** Any value that JSON can represent, as commits and records store it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined }

/** A machine's event as it is stored: `type` and plain data. */
export type StoredEvent = JsonObject & { readonly type: string }

/**
 * A client-visible event of an actor's log. `sequence` rises from 1 per actor and is the SSE `id:`. It has a gap only
 * where a process that streamed a text has crashed (src/actors/runtime/stream/shown-text.ts).
 */
export interface LogEvent {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  /** Data for replaying the log that clients never see, such as a provider's signature of a call. */
  readonly hidden?: JsonObject
  /** Time of the event in ms since the epoch, if it differs from the time of its commit. */
  readonly at?: number
  /** Only in memory: sequence of the event before this one, where a crash has left a gap between them. */
  readonly follows?: number
  /**
   * Only in the store: the event stands for several that were streamed one by one and that end with `sequence`. These
   * are the lengths of their texts in UTF-16 units, in order (src/storage/pieces.ts).
   */
  readonly cuts?: readonly number[]
  /** Only with `cuts`: from how many of them on which time holds, if not all have that of the event. */
  readonly times?: readonly (readonly [from: number, at: number])[]
}
