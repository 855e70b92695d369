import type { Schema, Shape } from './schema.ts'

/** One JSON document. */
export interface JsonAnswer<out T, WithHeaders extends boolean = boolean> {
  readonly kind: 'json'
  readonly status: number
  readonly schema: Schema<T>
  /** The use-case answers `{ body, headers }`: it sets cookies, `X-Provider` and the like. */
  readonly withHeaders: WithHeaders
  /** The document shows a secret once. It is never cached, and is encrypted where it is stored for a replay. */
  readonly secret: boolean
  /** The document may be as long as this, in bytes, and its operation waits for room before it makes it; 0 for others. */
  readonly mostBytes: number
}

/** Events of an actor's log as SSE. `events` has the payload of each by its name. */
export interface EventsAnswer {
  readonly kind: 'events'
  readonly status: number
  readonly events: Shape
  /** Resumed after `Last-Event-ID` or `?after=`. */
  readonly resumable: boolean
}

/** Bytes or text of other types (audio, SVG, CSV, frames of a chat stream), whole or in parts. */
export interface BytesAnswer {
  readonly kind: 'bytes'
  readonly status: number
  readonly contentTypes: readonly string[]
}

/** One of several answers, which the use-case chooses by the body's `stream` or the call's `accept`. */
export interface ChoiceAnswer<out T> {
  readonly kind: 'choice'
  readonly json: JsonAnswer<T>
  readonly others: readonly (EventsAnswer | BytesAnswer)[]
}

/** Answer of a successful operation. */
export type Answer = JsonAnswer<unknown> | EventsAnswer | BytesAnswer | ChoiceAnswer<unknown>

/** The events of an operation's answer, if the operation ever answers events. */
export const eventsOf = (answer: Answer): EventsAnswer | null => {
  if (answer.kind === 'events') return answer
  if (answer.kind !== 'choice') return null
  return answer.others.find((each) => each.kind === 'events') ?? null
}

/** How long a whole answer may be, where that is declared; 0 otherwise. */
export const mostBytesOf = (answer: Answer): number => {
  if (answer.kind === 'choice') return answer.json.mostBytes
  return answer.kind === 'json' ? answer.mostBytes : 0
}

/** A page of a log, with what it takes to make it: it has 4 MB at most. */
export const logPageBytes = 8 * 1024 * 1024

/** A JSON answer; status 200 unless said otherwise. */
export const answersJson = <T>(
  schema: Schema<T>,
  options: { status?: number; secret?: boolean; mostBytes?: number } = {},
): JsonAnswer<T, false> => ({
  kind: 'json',
  status: options.status ?? 200,
  schema,
  withHeaders: false,
  secret: options.secret ?? false,
  mostBytes: options.mostBytes ?? 0,
})

/** A JSON answer whose use-case also sets headers. */
export const answersJsonWithHeaders = <T>(
  schema: Schema<T>,
  options: { status?: number } = {},
): JsonAnswer<T, true> => ({
  ...answersJson(schema, options),
  withHeaders: true,
})

/** An SSE answer. */
export const answersEvents = (events: Shape, options: { resumable?: boolean } = {}): EventsAnswer => ({
  kind: 'events',
  status: 200,
  events,
  resumable: options.resumable ?? false,
})

/** Bytes of one of these content types. */
export const answersBytes = (...contentTypes: readonly string[]): BytesAnswer => ({
  kind: 'bytes',
  status: 200,
  contentTypes,
})

/** JSON, or one of the others by the request. */
export const answersEither = <T>(
  json: JsonAnswer<T>,
  ...others: readonly (EventsAnswer | BytesAnswer)[]
): ChoiceAnswer<T> => ({ kind: 'choice', json, others })
