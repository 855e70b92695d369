import { createHash, hash } from 'node:crypto'
import { type ListIndex, listIndexes } from '../list-index.ts'
import type { JsonObject, RecordKind, StoredRecord } from '../ports.ts'
import { fieldText, indexedFields } from '../record-keys.ts'
import type { RecordDocument } from './schema.ts'

/**
 * The filtered lists that a row is in, each as a short hash of its owner and its values. One multikey index on them
 * serves all filters of a kind, so that a new filter costs an entry, and no index (specs/decisions/0040-storage.md).
 */
export type ListsField = `lists_${string}`

/** What a kind declares, prepared once, since every written row needs it. */
interface KindLists {
  readonly field: ListsField
  readonly lists: readonly ListIndex[]
}

/**
 * The fields of the index after the lists. It ends in `expires_at`, so that rows are counted and skipped without being
 * read; the project is in it because shards check it for every row.
 */
export const listsIndexKey = ['project', '_id', 'expires_at'] as const

const prepared = new WeakMap<RecordKind, KindLists | null>()

/**
 * The field with the lists of a kind's rows; null for a kind without filters. Its name follows from the declaration and the
 * index: a row of a release with another declaration lacks the field, and is found as such.
 */
export const listsField = (kind: RecordKind): ListsField | null => kindLists(kind)?.field ?? null

const kindLists = (kind: RecordKind): KindLists | null => {
  const known = prepared.get(kind)
  if (known !== undefined) return known
  const lists = listIndexes(kind).filter(({ fields }) => fields.length > 0)
  const text = JSON.stringify([listsIndexKey, ...lists.map(({ owner, fields }) => [owner, fields])])
  const field: ListsField = `lists_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
  const made = lists.length === 0 ? null : { field, lists }
  prepared.set(kind, made)
  return made
}

type Owned = Pick<StoredRecord, 'project' | 'tenant' | 'user'>

/** The fields of a row's document by which it is found: the texts of its indexed fields, and its lists. */
export type FoundBy = Pick<RecordDocument, 'keys'> & { readonly [lists: ListsField]: readonly string[] }

/** Returns the fields by which a row is found; absent and null fields are omitted from `keys`. */
export const foundBy = (kind: RecordKind, record: Owned & { readonly data: JsonObject }): FoundBy => {
  const keys: Record<string, string> = {}
  for (const field of indexedFields(kind)) {
    const text = fieldText(record.data, field)
    if (text !== null) keys[field] = text
  }
  const own = kindLists(kind)
  if (own === null) return { keys }
  const found: { [lists: ListsField]: readonly string[]; keys: typeof keys } = { keys }
  found[own.field] = listsOf(own, record, keys)
  return found
}

/** Most combinations of values in memory: rows of a kind share most of theirs. */
const maxKnown = 10_000
let known = new Map<string, readonly string[]>()

const listsOf = ({ field, lists }: KindLists, owned: Owned, keys: Readonly<Record<string, string>>) => {
  const values = JSON.stringify([field, owned.project, owned.tenant, owned.user, keys])
  const before = known.get(values)
  if (before !== undefined) return before
  const ofRow = lists.filter(({ owner }) => owner.every((column) => owned[column] !== null))
  const made = ofRow.map((list) => listMark(list, owned, keys))
  if (known.size >= maxKnown) known = new Map()
  known.set(values, made)
  return made
}

/**
 * The hash that stands for one list. It is cryptographic, so that the values of one owner cannot be chosen to fill a
 * list of another.
 *
 * @param keys the texts of the fields; one that is absent stands for records without the field.
 */
export const listMark = (
  { owner, fields }: ListIndex,
  owned: Owned,
  keys: Readonly<Record<string, string | null>>,
): string => {
  const text = JSON.stringify([
    fields,
    owner.map((column) => owned[column]),
    fields.map((field) => keys[field] ?? null),
  ])
  return hash('sha256', text, 'base64url').slice(0, 12)
}
