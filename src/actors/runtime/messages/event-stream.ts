import type { LogEvent } from '#storage/ports.ts'

/** Receives a stream's events in order. */
export interface EventSink {
  /** Returns false to pause the source until `resume`; the events passed are accepted all the same. */
  push(events: readonly LogEvent[]): boolean
  end(reason: StreamEnding): void
}

/**
 * How a stream ends. `done`: it is complete. `lost`: it broke, and may be resumed after the last event. `deleted`: its
 * actor was deleted, so there is nothing to resume.
 */
export type StreamEnding = 'done' | 'lost' | 'deleted'

/** The reader's side of a running stream. */
export interface StreamControl {
  resume(): void
  stop(): void
}

/** Events of one actor, from the log and then live, without gaps or duplicates. Nothing is read until `start`. */
export interface EventStream {
  /** Sequence after which the stream of a log starts; absent for other streams. */
  readonly after?: number
  start(sink: EventSink): StreamControl
}
