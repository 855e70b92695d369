import { createHash } from 'node:crypto'
import type { Document } from 'mongodb'
import type { ShardKey } from '#storage/mongo/sharding.ts'

/**
 * Which shards a statement goes to, and why:
 * - `targeted`: those of its shard keys;
 * - `prefix`: those that hold the beginning of a ranged key, or a range of it: here all, as if every key value were a
 *   chunk of its own, which is the worst case;
 * - `broadcast`: all, since it has no shard key;
 * - `whole`: the one that holds a collection that is not sharded.
 */
export interface Route {
  readonly reach: 'targeted' | 'prefix' | 'broadcast' | 'whole'
  readonly shards: readonly number[]
  /** Whether it names one value of the whole shard key, as a change of one document has to. */
  readonly isOne: boolean
}

/** A statement that a mongos refuses; `code` is the server's. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Server codes. */
export const codes = {
  cursorNotFound: 43,
  commandNotFound: 59,
  shardKeyNotFound: 61,
  illegalOperation: 20,
  immutableField: 66,
  alreadyInitialized: 23,
  invalidOptions: 72,
  cannotCreateIndex: 67,
  hostUnreachable: 6,
} as const

/** The keys of the collections that are sharded, by namespace. */
export class Routing {
  readonly keys = new Map<string, ShardKey>()
  readonly #all: readonly number[]

  constructor(shards: number) {
    this.#all = Array.from({ length: shards }, (_, n) => n)
  }

  get all(): readonly number[] {
    return this.#all
  }

  /** The route of a statement with this filter. */
  of(namespace: string, filter: Document): Route {
    const key = this.keys.get(namespace)
    if (key === undefined) return { reach: 'whole', shards: [0], isOne: true }
    const conditions = Object.keys(key).map((field) => conditionOn(filter, field))
    const values = conditions.map(valuesOf)
    if (values.every((each) => each !== null)) {
      const shards = new Set(combinations(values).map((each) => this.shardOf(each)))
      return { reach: 'targeted', shards: [...shards], isOne: values.every(({ length }) => length === 1) }
    }
    const [first] = conditions
    const isRange = first !== undefined && !Object.values(key).includes('hashed')
    return { reach: isRange ? 'prefix' : 'broadcast', shards: this.#all, isOne: false }
  }

  /** The route of a new document. @throws {Refusal} when it lacks its shard key. */
  ofDocument(namespace: string, document: Document): Route {
    const key = this.keys.get(namespace)
    if (key === undefined) return { reach: 'whole', shards: [0], isOne: true }
    for (const field of Object.keys(key)) {
      if (document[field] === undefined) throw new Refusal(codes.shardKeyNotFound, `a document lacks ${field}`)
    }
    return this.of(namespace, document)
  }

  /** The shard of a key's values. It stands for the hash, or the chunks, of the server. */
  shardOf(values: readonly unknown[]): number {
    return createHash('sha256').update(JSON.stringify(values)).digest().readUInt32LE(24) % this.#all.length
  }
}

/** The condition of a filter on a field, also within `$and`. */
const conditionOn = (filter: Document, field: string): unknown => {
  if (filter[field] !== undefined) return filter[field]
  const parts: readonly Document[] = Array.isArray(filter.$and) ? filter.$and : []
  return parts.map((part) => conditionOn(part, field)).find((condition) => condition !== undefined)
}

/** The values that a condition admits; null for a range or for any. */
const valuesOf = (condition: unknown): readonly unknown[] | null => {
  if (condition === undefined || condition === null) return null
  if (typeof condition !== 'object' || !isPlain(condition)) return [condition]
  if ('$eq' in condition) return [condition.$eq]
  if ('$in' in condition && Array.isArray(condition.$in)) return condition.$in
  return Object.keys(condition).some((name) => name.startsWith('$')) ? null : [condition]
}

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype

const combinations = (values: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] =>
  values.reduce<readonly (readonly unknown[])[]>(
    (made, each) => made.flatMap((head) => each.map((value) => [...head, value])),
    [[]],
  )
