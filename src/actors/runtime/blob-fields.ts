import { createHash } from 'node:crypto'
import type { BlobStore, Json } from '../../storage/ports.ts'
import { Unrestorable } from './actor-state.ts'
import { isObject } from './schema.ts'

/**
 * Long strings leave a document for the blob store and come back on reading: `{ $blob: <owner><sha256> }`.
 * Data that itself has a `$blob` key is wrapped as `{ $blob: null, value }`, so that nobody can point at a blob from outside.
 */

/** Strings longer than this leave a commit (DESIGN "An actor"). In UTF-16 units, which is near enough to bytes for a bound. */
export const maxInlineLength = 64 * 1024

/** Strings longer than this leave a snapshot, which stays under 32 KB. */
export const maxSnapshotString = 4 * 1024

/** A string that was taken out. */
export interface Taken {
  readonly hash: string
  readonly content: string
}

/**
 * `value` with its long strings replaced; they are added to `taken`. The same object when there are none.
 *
 * @param owner what the blobs' names start with (`actorBlobs`).
 */
export const takeOut = <T extends Json | undefined>(
  value: T,
  maxLength: number,
  taken: Taken[],
  owner = '',
): T | Json => {
  if (typeof value === 'string') return value.length > maxLength ? reference(value, taken, owner) : value
  if (typeof value !== 'object' || value === null) return value
  if (!isLarge(value, maxLength)) return value
  if (!isObject(value)) return Object.values(value).map((each) => takeOut(each, maxLength, taken, owner) ?? null)
  const entries = Object.entries(value).map(([key, each]) => [key, takeOut(each, maxLength, taken, owner)])
  const inner: Json = Object.fromEntries(entries)
  return '$blob' in value ? { $blob: null, value: inner } : inner
}

const reference = (content: string, taken: Taken[], owner: string): Json => {
  const hash = owner + createHash('sha256').update(content).digest('hex')
  taken.push({ hash, content })
  return { $blob: hash }
}

/** Whether `takeOut` has anything to do: most documents need none, which is found out without allocating. */
export const isLarge = (value: Json | undefined, maxLength: number): boolean => {
  if (typeof value === 'string') return value.length > maxLength
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each: Json) => isLarge(each, maxLength))
  for (const key in value) {
    if (key === '$blob') return true
    const each: Json | undefined = Reflect.get(value, key)
    if (isLarge(each, maxLength)) return true
  }
  return false
}

/** `value` with its strings put back. @throws {Unrestorable} when a blob is missing, which is a damaged store. */
export const putBack = async (value: Json, blobs: BlobStore, project: string): Promise<Json> => {
  if (!isLarge(value, Number.POSITIVE_INFINITY)) return value
  if (!isObject(value)) {
    return Array.isArray(value) ? Promise.all(value.map((each: Json) => putBack(each, blobs, project))) : value
  }
  if ('$blob' in value) return fromReference(value.$blob, value.value, blobs, project)
  return rebuilt(value, blobs, project)
}

const fromReference = async (
  hash: Json | undefined,
  wrapped: Json | undefined,
  blobs: BlobStore,
  project: string,
): Promise<Json> => {
  if (hash === null) return isObject(wrapped) ? rebuilt(wrapped, blobs, project) : null
  const content = typeof hash === 'string' ? await blobs.get(project, hash) : null
  if (content === null) throw new Unrestorable('a blob is missing')
  return content
}

const rebuilt = async (value: { readonly [key: string]: Json | undefined }, blobs: BlobStore, project: string) => {
  const entries = Object.entries(value).map(
    async ([key, each]): Promise<[string, Json | undefined]> => [
      key,
      each === undefined ? undefined : await putBack(each, blobs, project),
    ],
  )
  return Object.fromEntries(await Promise.all(entries))
}
