import { type RedisConnection, Repository, Schema } from 'redis-om'
import type { JsonObject } from '#machines/json.ts'
import type { ActorNews } from '../cluster-ports.ts'
import type { Connection } from './connection.ts'

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
  /** Absent for a release that does not announce it. */
  redis?: string
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
      redis: { type: 'string' },
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

/** Entities of redis-om over our own connection: redis-om itself connects neither to sentinels nor to a cluster with TLS. */
export interface Entities<Entity> {
  /** Writes an entity that expires after `ms`. @throws {Unreachable} */
  save(id: string, entity: Entity, ms: number): Promise<void>
  /** @throws {Unreachable} */
  fetch(ids: readonly string[]): Promise<readonly Entity[]>
  /** @throws {Unreachable} */
  remove(ids: readonly string[]): Promise<void>
}

/** The server of a key does not answer. */
class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Returns a command's answer. @throws {Unreachable} when there is none. */
export const answered = async <T>(connection: Connection, key: string, command: () => Promise<T>): Promise<T> => {
  const answer = await connection.run(key, command)
  if (answer === undefined) throw new Unreachable(key)
  return answer
}

/** Opens the entities of a schema. */
export const entitiesOver = <Entity extends HostEntity | LiveActorEntity>(
  connection: Connection,
  schema: Schema<Entity>,
): Entities<Entity> => {
  const repository = (ms = 0) => new Repository<Entity>(schema, clientFor(connection, ms))
  return {
    save: async (id, entity, ms) => void (await repository(ms).save(id, entity)),
    fetch: async (ids) => (ids.length === 0 ? [] : repository().fetch([...ids])),
    remove: async (ids) => void (await Promise.all(ids.map((id) => repository().remove(id)))),
  }
}

/**
 * The part of a connection of `redis` 4 that redis-om uses for hashes. The lifetime is set in the transaction that
 * writes the entity.
 */
const clientFor = (connection: Connection, ms: number): RedisConnection => {
  const { client } = connection
  const saved = (key: string, hash: Record<string, string>) => async () => {
    const replies = await client.multi().unlink(key).hset(key, hash).pexpire(key, ms).exec()
    for (const [error] of replies ?? []) if (error !== null) throw error
    return true
  }
  const used = {
    hGetAll: (key: string) => answered(connection, key, () => client.hgetall(key)),
    unlink: (keys: readonly string[]) =>
      Promise.all(keys.map((key) => answered(connection, key, () => client.unlink(key)))),
    multi: () => ({
      unlink: (key: string) => ({
        hSet: (_: string, hash: Record<string, string>) => ({
          exec: () => answered(connection, key, saved(key, hash)),
        }),
      }),
    }),
  }
  return used as unknown as RedisConnection
}
