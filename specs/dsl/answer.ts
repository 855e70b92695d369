import type { Schema, Shape } from './schema.ts'

/** A response with one JSON document. */
export interface JsonAnswer<out T, WithHeaders extends boolean = boolean> {
  readonly kind: 'json'
  readonly status: number
  readonly schema: Schema<T>
  /** The use-case returns `{ body, headers }`, for example to set cookies or `X-Provider`. */
  readonly withHeaders: WithHeaders
  /** The document contains a secret that is shown once. It is never cached, and only stored encrypted for replays. */
  readonly secret: boolean
  /**
   * Maximum size of the document in bytes. The operation waits until that much memory is available before it creates
   * the document. 0 when no size is declared.
   */
  readonly maxBytes: number
}

/** Events of an actor's log as SSE. `events` contains the schema of each payload by event name. */
export interface EventsAnswer {
  readonly kind: 'events'
  /** Name of the choice of all payloads, for generated clients. */
  readonly title: string
  readonly status: number
  readonly events: Shape
  /** Whether the stream can be resumed after `Last-Event-ID` or `?after=`. */
  readonly resumable: boolean
  /** The stream is that of another product's client: frames are data only, and have no names or ids of the log. */
  readonly foreign: boolean
  /** Whether the answer is 204 when there is nothing to stream. */
  readonly mayBeEmpty: boolean
}

/** Bytes or text of other types (audio, SVG, CSV, frames of a chat stream), at once or streamed. */
export interface BytesAnswer {
  readonly kind: 'bytes'
  readonly status: number
  readonly contentTypes: readonly string[]
  /** Schema of the data of each event, if one of the types is `text/event-stream`; null otherwise. */
  readonly frame: Schema<unknown> | null
}

/** One of several responses. The use-case chooses by the body's `stream` or the call's `accept`. */
export interface ChoiceAnswer<out T> {
  readonly kind: 'choice'
  readonly json: JsonAnswer<T>
  readonly others: readonly (EventsAnswer | BytesAnswer)[]
}

/** Response of a successful operation. */
export type Answer = JsonAnswer<unknown> | EventsAnswer | BytesAnswer | ChoiceAnswer<unknown>

/** Returns the events that an operation's response may contain; null when it is never a stream of events. */
export const eventsOf = (answer: Answer): EventsAnswer | null => {
  if (answer.kind === 'events') return answer
  if (answer.kind !== 'choice') return null
  return answer.others.find((each) => each.kind === 'events') ?? null
}

/** Returns the declared maximum size of a response in bytes; 0 when none is declared. */
export const maxBytesOf = (answer: Answer): number => {
  if (answer.kind === 'choice') return answer.json.maxBytes
  return answer.kind === 'json' ? answer.maxBytes : 0
}

/** Memory in bytes for producing a page of a log. The page itself has at most 4 MB. */
export const logPageBytes = 8 * 1024 * 1024

/** Declares a JSON response. The default status is 200. */
export const isJsonResponse = <T>(
  schema: Schema<T>,
  options: { status?: number; secret?: boolean; maxBytes?: number } = {},
): JsonAnswer<T, false> => ({
  kind: 'json',
  status: options.status ?? 200,
  schema,
  withHeaders: false,
  secret: options.secret ?? false,
  maxBytes: options.maxBytes ?? 0,
})

/** Declares a JSON response whose use-case also sets headers. */
export const answersJsonWithHeaders = <T>(
  schema: Schema<T>,
  options: { status?: number } = {},
): JsonAnswer<T, true> => ({
  ...isJsonResponse(schema, options),
  withHeaders: true,
})

/** Declares an SSE response. `title` names the choice of all payloads in generated clients. */
export const answersEvents = (
  events: Shape,
  options: { title: string; resumable?: boolean; foreign?: true; mayBeEmpty?: true },
): EventsAnswer => ({
  kind: 'events',
  title: options.title,
  status: 200,
  events,
  resumable: options.resumable ?? false,
  foreign: options.foreign ?? false,
  mayBeEmpty: options.mayBeEmpty ?? false,
})

/** Declares a response of bytes in one of these content types. */
export const answersBytes = (...contentTypes: readonly string[]): BytesAnswer => ({
  kind: 'bytes',
  status: 200,
  contentTypes,
  frame: null,
})

/**
 * Declares a response of server-sent events, or of bytes in one of the other content types.
 *
 * @param frame schema of the data of each event, except a last `[DONE]`.
 */
export const answersFrames = (frame: Schema<unknown>, ...contentTypes: readonly string[]): BytesAnswer => ({
  kind: 'bytes',
  status: 200,
  contentTypes: [...contentTypes, 'text/event-stream'],
  frame,
})

/** Declares a JSON response or one of the others, depending on the request. */
export const answersEither = <T>(
  json: JsonAnswer<T>,
  ...others: readonly (EventsAnswer | BytesAnswer)[]
): ChoiceAnswer<T> => ({ kind: 'choice', json, others })
