import { hash, randomFillSync } from 'node:crypto'
import { decodeTime, encodeTime, ulid } from 'ulid'
import type { Idempotency } from '../call/call.ts'
import { shardOf } from './recovery/shard.ts'
import { type IdSource, UlidSource } from './ulid-source.ts'

/** Random bytes are drawn many at once: one by one they cost more than the rest of a request's ids. */
const pool = new Uint8Array(4096)
let drawn = pool.length

const random = (): number => {
  if (drawn === pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  return (pool[drawn++] ?? 0) / 256
}

let ulids = new UlidSource({ now: Date.now, random })

/** Makes ids from another source from now on: a simulation's own, so that its runs repeat to the byte. */
export const takeIdsFrom = (source: IdSource): void => {
  ulids = new UlidSource(source)
}

/**
 * A new id: `prefix`, `_` and a 26-character lower-case ULID, e.g. `ses_01kb…`.
 *
 * Ids of one process only rise, also within a millisecond and when the clock is set back, so that a list ordered by
 * id is a list ordered by creation.
 */
export const newId = (prefix: string): string => `${prefix}_${ulids.next()}`

/**
 * A new id of an actor in this shard: what belongs together runs in one place then, and the process that makes it is there
 * (runtime/shard.ts).
 */
export const newIdIn = (prefix: string, shard: number): string => `${prefix}_${ulids.nextIn(`${prefix}_`, shard)}`

/**
 * The id of what a call creates: the one that its Idempotency-Key was promised, so that a request which is run again
 * after a crash makes the same resource; else a new one. Insert under it, and take "exists" for "made before".
 *
 * @param fresh makes the new one; `Host.newActorId` for an actor.
 */
export const newIdFor = (
  call: { readonly idempotency: Idempotency | null },
  prefix: string,
  fresh: (prefix: string) => string = newId,
): string => (call.idempotency?.seed ? `${prefix}_${call.idempotency.seed}` : fresh(prefix))

/**
 * `newIdFor` of an actor that is to be in this shard, beside the actor that requests it. Its id follows from what the
 * Idempotency-Key was promised, and is the same in every attempt.
 */
export const newIdForIn = (
  { idempotency }: { readonly idempotency: Idempotency | null },
  prefix: string,
  shard: number,
): string => {
  if (!idempotency?.seed) return newIdIn(prefix, shard)
  const first = derivedId(prefix, timeOfId(`${prefix}_${idempotency.seed}`) ?? 0, idempotency.seed)
  const stem = first.slice(0, -tailLength)
  for (let number = 0; number < 32 ** tailLength; number++) {
    const id = stem + number.toString(32).padStart(tailLength, '0').replace(/[a-v]/g, crockford)
    if (shardOf(id) === shard) return id
  }
  return first
}

const tailLength = 3
const crockford = (digit: string): string => 'abcdefghjkmnpqrstvwxyz'[digit.charCodeAt(0) - 97] ?? ''

/** An id that sorts as if it was made at `atMs` (ms since the epoch); for imports and tests. */
export const idAt = (prefix: string, atMs: number): string => `${prefix}_${ulid(atMs).toLowerCase()}`

/** Always the same id for the same `seed`, sorted as if it was made at `atMs`: for what must be made once, however often. */
export const derivedId = (prefix: string, atMs: number, seed: string): string => {
  const bytes = hash('sha256', seed, 'buffer')
  let drawn = 0
  return `${prefix}_${ulid(Math.max(1, atMs), () => (bytes[drawn++ % bytes.length] ?? 0) / 256).toLowerCase()}`
}

/** An id that sorts by `atMs`, with a tail of 16 characters that the caller knows to be unique. Costs little. */
export const idWithTail = (prefix: string, atMs: number, tail: string): string =>
  `${prefix}_${encodeTime(Math.max(0, atMs), 10).toLowerCase()}${tail}`

/** The 16 characters of an id that do not contain its time. */
export const tailOf = (id: string): string => id.slice(-16)

/** What every id that is made at `atMs` or later sorts after, and every earlier one before. */
export const idFloor = (prefix: string, atMs: number): string =>
  `${prefix}_${encodeTime(Math.max(0, atMs), 10).toLowerCase()}${'0'.repeat(16)}`

/** When an id was made, in ms since the epoch; null when it is no id of ours. */
export const timeOfId = (id: string): number | null => (isId(id) ? decodeTime(id.slice(-26).toUpperCase()) : null)

/** Whether `text` has the shape of an id, of this `prefix` when one is given. */
export const isId = (text: string, prefix?: string): boolean =>
  idShape.test(text) && (prefix === undefined || text.length === prefix.length + 27) && text.startsWith(prefix ?? '')

const idShape = /^[a-z][a-z0-9]*_[0-7][0-9a-hjkmnp-tv-z]{25}$/
