import { createHash } from 'node:crypto'
import type { BlobStore, Json, JsonObject } from '#storage/ports.ts'
import { isObject } from '../schema.ts'
import { Unrestorable } from '../step/actor-state.ts'

/**
 * Moves long values of a document to the blob store, and puts them back on reading. A string is replaced by `{ $blob:
 * <owner><sha256> }`; an object, a list, or a string that is not well-formed Unicode by `{ $blob: <owner><sha256>,
 * json: true }`. Data that itself has a `$blob` key is wrapped as `{ $blob: null, value }`, so that no caller can forge
 * a reference to a blob.
 */

/** What stays inline in a document. Lengths are of JSON, in UTF-16 units, which approximates bytes. */
export interface Keeping {
  /** Longer strings are moved, as are objects and lists whose JSON is longer. */
  readonly maxLength: number
  /** Number of object levels that always stay inline: 1 when the fields of a document are considered one by one. */
  readonly levels: number
}

type Named = (hash: string) => string

/** A value that was moved to the blob store. */
export interface Taken {
  readonly hash: string
  readonly content: string
}

/**
 * Returns `value` with long values replaced by references, and adds those values to `taken`. Returns the same object
 * when there are none.
 *
 * @param named returns the name of a blob by the SHA-256 of its content; the hash itself when absent.
 */
export const extractBlobs = <T extends Json | undefined>(
  value: T,
  keeping: Keeping,
  { taken, named = (hash) => hash }: { readonly taken: Taken[]; readonly named?: Named },
): T | Json => {
  if (measured(value, keeping.maxLength, keeping.levels) < Number.POSITIVE_INFINITY) return value
  if (typeof value === 'string') return textReference(value, taken, named)
  if (typeof value !== 'object' || value === null) return value
  const own: Taken[] = []
  const inner = innerOf(value, { ...keeping, levels: keeping.levels - 1 }, { taken: own, named })
  if (keeping.levels <= 0 && lengthOf(inner) > keeping.maxLength) {
    return { ...reference(JSON.stringify(value), taken, named), json: true }
  }
  taken.push(...own)
  return inner
}

const innerOf = (
  value: Json & object,
  keeping: Keeping,
  taking: { readonly taken: Taken[]; readonly named: Named },
): Json => {
  const each = (inner: Json | undefined) => extractBlobs(inner, keeping, taking)
  if (!isObject(value)) return Object.values(value).map((inner: Json) => each(inner) ?? null)
  const object: Json = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, each(inner)]))
  return '$blob' in value ? { $blob: null, value: object } : object
}

/** A lone surrogate has no UTF-8 encoding, and stores would keep the replacement character. JSON escapes it. */
const textReference = (text: string, taken: Taken[], named: Named): Json =>
  text.isWellFormed() ? reference(text, taken, named) : { ...reference(JSON.stringify(text), taken, named), json: true }

const reference = (content: string, taken: Taken[], named: Named): { readonly $blob: string } => {
  const hash = named(createHash('sha256').update(content).digest('hex'))
  taken.push({ hash, content })
  return { $blob: hash }
}

/** Approximate length of the value's JSON; infinite if something in it has to be moved. Allocates nothing. */
export const measured = (value: Json | undefined, maxLength: number, levels: number): number => {
  if (typeof value === 'string') return value.length > maxLength ? Number.POSITIVE_INFINITY : value.length + 3
  if (typeof value !== 'object' || value === null) return 6
  let length = 2
  for (const key in value) {
    if (key === '$blob') return Number.POSITIVE_INFINITY
    const each: Json | undefined = Reflect.get(value, key)
    length += key.length + 3 + measured(each, maxLength, levels - 1)
    if (length > maxLength && (levels <= 0 || length === Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY
  }
  return length
}

/** Approximate length of the value's JSON. */
export const lengthOf = (value: Json | undefined): number => {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 6
  let length = 2
  for (const key in value) length += key.length + 3 + lengthOf(Reflect.get(value, key))
  return length
}

/** Whether a value refers to a blob, or is wrapped like a reference. */
export const hasReference = (value: Json | undefined): boolean => {
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (key === '$blob' || hasReference(Reflect.get(value, key))) return true
  return false
}

/**
 * Returns `value` with all references replaced by their content.
 * @throws {Unrestorable} when a blob is missing, which means that the store is damaged.
 */
export const restoreBlobs = async (value: Json, blobs: BlobStore, project: string): Promise<Json> => {
  if (!hasReference(value)) return value
  if (!isObject(value)) {
    return Array.isArray(value) ? Promise.all(value.map((each: Json) => restoreBlobs(each, blobs, project))) : value
  }
  if ('$blob' in value) return fromReference(value, blobs, project)
  return rebuilt(value, blobs, project)
}

const fromReference = async (
  { $blob: hash, value: wrapped, json }: JsonObject,
  blobs: BlobStore,
  project: string,
): Promise<Json> => {
  if (hash === null) return isObject(wrapped) ? rebuilt(wrapped, blobs, project) : null
  const content = typeof hash === 'string' ? await blobs.get(project, hash) : null
  if (content === null) throw new Unrestorable('a blob is missing')
  return json === true ? JSON.parse(content) : content
}

const rebuilt = async (value: { readonly [key: string]: Json | undefined }, blobs: BlobStore, project: string) => {
  const entries = Object.entries(value).map(
    async ([key, each]): Promise<[string, Json | undefined]> => [
      key,
      each === undefined ? undefined : await restoreBlobs(each, blobs, project),
    ],
  )
  return Object.fromEntries(await Promise.all(entries))
}
