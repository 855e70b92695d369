import { isEvent, isObject } from '#runtime/index.ts'
import type { PeerAnswer, PeerRequest } from '#runtime/internal.ts'
import { type ErrorCode, type ErrorDetails, errors } from '#specs/errors/errors.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** An error as it is sent to a peer. */
export type WireFailure =
  | ({ readonly code: ErrorCode } & { readonly [name in keyof ErrorDetails]: ErrorDetails[name] | undefined })
  /** The store or the process could not answer; the request may have been carried out nevertheless. */
  | { readonly unavailable: string }

/** One request; `request` null: its kind or form is unknown to this release. */
export interface Question {
  readonly id: number
  readonly request: PeerRequest | null
  /** `traceparent` of the span in which it was made; null without one. */
  readonly trace: string | null
}

/** One answer. */
export type Reply =
  | { readonly id: number; readonly answer: PeerAnswer }
  | { readonly id: number; readonly failure: WireFailure }

type Field = (value: Json | undefined) => boolean

const text: Field = (value) => typeof value === 'string'
const texts: Field = (value) => Array.isArray(value) && value.every(text)
const flag: Field = (value) => typeof value === 'boolean'
const count: Field = (value) => Number.isSafeInteger(value)
const either =
  (...fields: readonly Field[]): Field =>
  (value) =>
    fields.some((field) => field(value))
const absent: Field = (value) => value === undefined
const nothing: Field = (value) => value === null
const object =
  (fields: Readonly<Record<string, Field>>): Field =>
  (value) =>
    isObject(value) && Object.keys(fields).every((name) => fields[name]?.(value[name]) === true)

const owner = object({ project: text, tenant: either(nothing, text), user: either(nothing, text), createdAt: count })

/** Fields that the runtime reads of a commit by another process. */
const commit = object({
  ...{ actor: text, seq: count, shard: count, epoch: count, at: count, project: text, cause: text, machine: text },
  ...{ last_sequence: count, event: isEvent, events: Array.isArray, effects: Array.isArray, messages: Array.isArray },
})

const requests: Readonly<Record<PeerRequest['kind'], Field>> = {
  deliver: object({
    actor: text,
    delivery: object({ event: isEvent, cause: text, stored: either(absent, isEvent) }),
    follower: either(absent, text),
  }),
  create: object({
    ...{ machine: text, actor: text, owner, input: isObject, cause: text },
    again: either(absent, flag),
  }),
  delivered: object({ actor: text }),
  question: object({ actor: text, question: isObject }),
  task: object({ service: text, key: either(nothing, text), input: isObject }),
  rows: isObject,
  follow: object({ actors: texts, follower: text }),
}

const answers: Readonly<Record<PeerAnswer['kind'], Field>> = {
  told: object({
    commit: either(nothing, commit),
    duplicate: flag,
    standing: either(absent, object({ busy: flag, lastSequence: count })),
  }),
  done: isObject,
  said: object({ said: either(nothing, isObject) }),
  elsewhere: isObject,
}

const fits = (fields: Readonly<Record<string, Field>>, value: JsonObject): boolean =>
  typeof value.kind === 'string' && Object.hasOwn(fields, value.kind) && fields[value.kind]?.(value) === true

/** Returns the id of a ping frame; undefined for any other frame. */
export const pingIn = (value: unknown): number | undefined =>
  isObject(value) && value.ping === true && count(value.id) ? Number(value.id) : undefined

/** Returns the id of the request that a frame gives up; undefined for any other frame. */
export const cancelIn = (value: unknown): number | undefined =>
  isObject(value) && value.cancel === true && count(value.id) ? Number(value.id) : undefined

/** Parses a request frame. @throws {Error} when it is none. */
export const questionIn = (value: unknown): Question => {
  if (!isObject(value) || !count(value.id)) throw new Error('a frame that is no question')
  const { id, ask, trace } = value
  const sender = typeof trace === 'string' ? trace : null
  return { id, request: isObject(ask) && fits(requests, ask) ? ask : null, trace: sender } as Question
}

/** Parses an answer frame. @throws {Error} when it is none. */
export const replyIn = (value: unknown): Reply => {
  if (!isObject(value) || !count(value.id)) throw new Error('a frame that is no answer')
  const { id, answer, failure } = value
  if (isObject(answer) && fits(answers, answer)) return { id, answer } as unknown as Reply
  if (isObject(failure) && isFailure(failure)) return { id, failure } as unknown as Reply
  return { id, failure: { unavailable: 'an answer that this release does not know' } } as Reply
}

const isFailure = (failure: JsonObject): boolean =>
  text(failure.unavailable) ||
  (typeof failure.code === 'string' &&
    Object.hasOwn(errors, failure.code) &&
    [failure.param, failure.message].every(either(absent, text)) &&
    either(absent, count)(failure.retryAfterS) &&
    either(absent, isObject)(failure.extra))
