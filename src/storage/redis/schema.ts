import { Schema } from 'redis-om'
import type { JsonObject } from '#machines/json.ts'
import type { ActorNews } from '../cluster-ports.ts'

/** A message on a channel of hints. */
export interface Hint {
  /** The instance that sent it, which ignores its own hints. */
  readonly from: string
  readonly data: JsonObject
}

/** Parses news; null for an invalid message, such as one of another release. */
export const newsIn = (message: string): readonly ActorNews[] | null => {
  const parsed = parse(message)
  return Array.isArray(parsed) && parsed.every(isNews) ? (parsed as readonly ActorNews[]) : null
}

/** Parses a hint; null for an invalid message. */
export const hintIn = (message: string): Hint | null => {
  const parsed = parse(message)
  return isObject(parsed) && typeof parsed.from === 'string' && isObject(parsed.data)
    ? { from: parsed.from, data: parsed.data as JsonObject }
    : null
}

const parse = (message: string): unknown => {
  try {
    return JSON.parse(message)
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNews = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.actor === 'string' &&
  Array.isArray(value.events) &&
  typeof value.busy === 'boolean' &&
  typeof value.lastSequence === 'number'

/** A process in the directory, as redis-om keeps it. */
export type HostEntity = {
  process: string
  node: string
  address: string
  draining: boolean
  started_at: number
  shards: number
  live_actors: number
  running_effects: number
}

/** A live actor in the directory, as redis-om keeps it. */
export type LiveActorEntity = {
  actor: string
  machine: string
  project: string
  node: string
  process: string
}

/** Hashes at `<prefix>host:<process>`. */
export const hostSchema = (prefix: string): Schema<HostEntity> =>
  new Schema<HostEntity>(
    `${prefix}host`,
    {
      process: { type: 'string' },
      node: { type: 'string' },
      address: { type: 'string' },
      draining: { type: 'boolean' },
      started_at: { type: 'number' },
      shards: { type: 'number' },
      live_actors: { type: 'number' },
      running_effects: { type: 'number' },
    },
    { dataStructure: 'HASH' },
  )

/** Hashes at `<prefix>actor:<id>`. */
export const liveActorSchema = (prefix: string): Schema<LiveActorEntity> =>
  new Schema<LiveActorEntity>(
    `${prefix}actor`,
    {
      actor: { type: 'string' },
      machine: { type: 'string' },
      project: { type: 'string' },
      node: { type: 'string' },
      process: { type: 'string' },
    },
    { dataStructure: 'HASH' },
  )
