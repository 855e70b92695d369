/** Any value that JSON can carry; what commits and records hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined }

/** One event of a machine as it is stored: `type` and its plain data. */
export type StoredEvent = JsonObject & { readonly type: string }

/** A client-visible event of an actor's log. `sequence` is gapless from 1 per actor and is the SSE `id:`. */
export interface LogEvent {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  /** What the fold of the log needs and no client is shown, such as a provider's signature of a call. */
  readonly hidden?: JsonObject
  /** When it was written, in ms since the epoch, where that is not the time of the commit that holds it. */
  readonly at?: number
}
