import { keyText } from './commit-row.ts'
import { filtersOf } from './list-index.ts'
import type { Json, JsonObject, RecordKind } from './ports.ts'
import type { Scope } from './scope.ts'

/**
 * Checks the scope of a removal.
 *
 * @throws {Error} for one without a tenant (a programming error: it would remove the whole project).
 */
export const ownerScope = (scope: Scope): Scope => {
  if (scope.tenant === null && scope.whole !== true) throw new Error('only what a tenant owns can be cleared')
  return scope
}

/** One unique key of a kind. */
export type UniqueKey = NonNullable<RecordKind['unique']>[number]

type Where = { readonly [field: string]: Json } | undefined

const fieldsOfKinds = new WeakMap<RecordKind, readonly string[]>()

/** Every indexed field of a kind's `data`; cached per kind, since every written row needs it. */
export const indexedFields = (kind: RecordKind): readonly string[] => {
  const known = fieldsOfKinds.get(kind)
  if (known !== undefined) return known
  const own = [...(kind.unique ?? []), ...filtersOf(kind)].flatMap((each) => each.fields)
  const fields = [...new Set([...own, ...(kind.due === undefined ? [] : [kind.due])])]
  fieldsOfKinds.set(kind, fields)
  return fields
}

/** The field by which a kind's records are due. @throws {Error} for a kind without one (a programming error) */
export const dueField = ({ name, due }: RecordKind): string => {
  if (due === undefined) throw new Error(`${name} has no records that are due`)
  return due
}

/** The text of an indexed field; null when the record lacks it (absent or null). */
export const fieldText = (data: JsonObject, field: string): string | null => {
  const value = data[field]
  return value === undefined || value === null ? null : keyText(value)
}

/** A record's value of a unique key as one string; null when a field is absent, since the key does not apply then. */
export const uniqueText = (key: UniqueKey, project: string, data: JsonObject): string | null => {
  const parts = key.global ? ['*'] : ['=', project]
  for (const field of key.fields) {
    const text = fieldText(data, field)
    if (text === null) return null
    parts.push(text)
  }
  return JSON.stringify(parts)
}

/**
 * Returns the declared unique key whose fields are exactly those of `key`.
 *
 * @throws {Error} when there is none (a programming error: such a search would have no index), or a value is null.
 */
export const uniqueKeyFor = (kind: RecordKind, key: JsonObject, onlyGlobal: boolean): UniqueKey => {
  const given = Object.keys(key)
  const found = (kind.unique ?? []).find(
    ({ fields, global }) =>
      fields.length === given.length && fields.every((field) => fieldText(key, field)) && (global || !onlyGlobal),
  )
  if (!found) throw new Error(`${kind.name} has no ${onlyGlobal ? 'global ' : ''}unique key of ${given.join(', ')}`)
  return found
}

/**
 * The conditions of a list as pairs of field and text; a null text matches records that lack the field.
 *
 * @throws {Error} for a field without an index (a programming error).
 */
export const conditions = (kind: RecordKind, where: Where): readonly (readonly [string, string | null])[] => {
  const known = indexedFields(kind)
  return Object.entries(where ?? {}).map(([field, value]) => {
    if (!known.includes(field)) throw new Error(`${kind.name} has no index on ${field}`)
    return [field, value === null ? null : keyText(value)] as const
  })
}

/**
 * Checks the prefix of an owner's blob hashes.
 *
 * @throws {Error} when it is empty (a programming error: all blobs would be removed).
 */
export const blobPrefix = (prefix: string): string => {
  if (prefix === '') throw new Error('a prefix of blobs is not empty')
  return prefix
}

/** The first string that sorts after all those that start with `prefix`, which must end in an ASCII character. */
export const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
