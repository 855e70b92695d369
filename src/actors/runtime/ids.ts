import { hash, randomFillSync } from 'node:crypto'
import { decodeTime, encodeTime, ulid } from 'ulid'
import { Shards } from './recovery/shard.ts'
import { type IdSource, UlidSource } from './ulid-source.ts'

/**
 * Random bytes are drawn in blocks: drawn one by one, they would cost more than everything else about a request's ids.
 */
const pool = new Uint8Array(4096)
let drawn = pool.length

const random = (): number => {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  return (pool[drawn++] ?? 0) / 256
}

/** A request, whose Idempotency-Key may reserve the last 26 characters of the id of what it creates. */
interface Reserving {
  readonly idempotency: { readonly seed: string | null } | null
}

let ulids = new UlidSource({ now: Date.now, random })

/** Replaces the source of ids, so that a simulation is reproducible byte for byte. */
export const takeIdsFrom = (source: IdSource): void => {
  ulids = new UlidSource(source)
}

/**
 * Returns a new id: `prefix`, `_` and a 26-character lower-case ULID, e.g. `ses_01kb…`.
 *
 * Ids of one process are strictly increasing, also within a millisecond and when the clock is set back, so that a list
 * ordered by id is ordered by creation.
 *
 * @example
 * newId('order') // order_01kb4…
 */
export const newId = (prefix: string): string => `${prefix}_${ulids.next()}`

/**
 * Returns a new actor id in this shard of 1,024, and of any lower power of two of which it is one, so that related actors run in the process that creates them
 * (runtime/recovery/shard.ts).
 */
export const newIdIn = (prefix: string, shard: number): string => `${prefix}_${ulids.nextIn(`${prefix}_`, shard)}`

/** A store's number of shards divides this one, so an id that is in one of these shards is in a shard of any store. */
const maxShards = new Shards(1024)

/** Returns a new actor id in the shard of this one, whatever the number of shards of their store. */
export const newIdBeside = (prefix: string, actor: string): string => newIdIn(prefix, maxShards.of(actor))

/**
 * Returns the id of the resource that a call creates. With an Idempotency-Key it is the id reserved for that key, so
 * that a request which is run again after a crash creates the same resource; otherwise it is new. Insert under this id,
 * and treat "exists" as "already created".
 *
 * @param fresh generates a new id; `Host.newActorId` for an actor.
 */
export const newIdFor = (call: Reserving, prefix: string, fresh: (prefix: string) => string = newId): string =>
  call.idempotency?.seed ? `${prefix}_${call.idempotency.seed}` : fresh(prefix)

/**
 * `newIdFor` for an actor that has to be in the shard of the one that requests it. With an Idempotency-Key the id is
 * derived from the one reserved for that key, and is the same in every attempt.
 *
 * @param shards those of the store.
 */
export const newIdForBeside = (
  { idempotency }: Reserving,
  prefix: string,
  { actor, shards }: { readonly actor: string; readonly shards: Shards },
): string => {
  if (!idempotency?.seed) return newIdBeside(prefix, actor)
  const shard = shards.of(actor)
  const first = derivedId(prefix, timeOfId(`${prefix}_${idempotency.seed}`) ?? 0, idempotency.seed)
  const stem = first.slice(0, -tailLength)
  for (let number = 0; number < 32 ** tailLength; number++) {
    const id = stem + number.toString(32).padStart(tailLength, '0').replace(/[a-v]/g, crockford)
    if (shards.of(id) === shard) return id
  }
  return first
}

const tailLength = 3
const crockford = (digit: string): string => 'abcdefghjkmnpqrstvwxyz'[digit.charCodeAt(0) - 97] ?? ''

/** Returns a random id that sorts as if created at `atMs` (ms since the epoch); for imports and tests. */
export const idAt = (prefix: string, atMs: number): string => `${prefix}_${ulid(atMs).toLowerCase()}`

/**
 * Returns the same id for the same `seed` and `atMs`, sorting as if created at `atMs`: for resources that must be
 * created only once, however often that is attempted.
 *
 * @example
 * derivedId('order', 0, 'cart 17') === derivedId('order', 0, 'cart 17')
 */
export const derivedId = (prefix: string, atMs: number, seed: string): string => {
  const bytes = hash('sha256', seed, 'buffer')
  let drawn = 0
  return `${prefix}_${ulid(Math.max(1, atMs), () => (bytes[drawn++ % bytes.length] ?? 0) / 256).toLowerCase()}`
}

/** Returns an id that sorts by `atMs` and ends in 16 characters that the caller guarantees to be unique. Cheap. */
export const idWithTail = (prefix: string, atMs: number, tail: string): string =>
  `${prefix}_${encodeTime(Math.max(0, atMs), 10).toLowerCase()}${tail}`

/** The last 16 characters of an id, which do not contain its time. */
export const tailOf = (id: string): string => id.slice(-16)

/** Lower bound for ids created at `atMs` or later; every earlier id sorts before it. */
export const idFloor = (prefix: string, atMs: number): string =>
  `${prefix}_${encodeTime(Math.max(0, atMs), 10).toLowerCase()}${'0'.repeat(16)}`

/** Time of creation encoded in an id, in ms since the epoch; null for text that is not an id of this format. */
export const timeOfId = (id: string): number | null => (isId(id) ? decodeTime(id.slice(-26).toUpperCase()) : null)

/** Whether `text` has the format of an id, with this `prefix` when one is given. */
export const isId = (text: string, prefix?: string): boolean =>
  idShape.test(text) && (prefix === undefined || text.length === prefix.length + 27) && text.startsWith(prefix ?? '')

const idShape = /^[a-z][a-z0-9]*_[0-7][0-9a-hjkmnp-tv-z]{25}$/
