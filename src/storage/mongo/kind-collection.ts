import { createHash } from 'node:crypto'
import type { Collection, Db, IndexDescription } from 'mongodb'
import { type ListIndex, listIndexes } from '../list-index.ts'
import type { JsonObject, RecordKind } from '../ports.ts'
import { fieldText, indexedFields } from '../record-keys.ts'
import { type RecordDocument, whilePreparing } from './schema.ts'

/** The texts of a record's indexed fields; absent and null fields are omitted. */
export const keysOf = (kind: RecordKind, data: JsonObject): Record<string, string> => {
  const keys: Record<string, string> = {}
  for (const field of indexedFields(kind)) {
    const text = fieldText(data, field)
    if (text !== null) keys[field] = text
  }
  return keys
}

/** A document of the collection `kinds`: the indexed fields of a kind, and the hash of the indexes created for it. */
interface KindDocument {
  readonly _id: string
  readonly fields: readonly string[]
  readonly indexes?: string
}

const kindsOf = (db: Db): Collection<KindDocument> => db.collection<KindDocument>('kinds', whilePreparing)

/**
 * Returns the kinds whose indexes exist as declared, created by this or an earlier process. Takes two requests in
 * total.
 */
export const preparedKinds = async (db: Db, kinds: readonly RecordKind[]): Promise<readonly RecordKind[]> => {
  const [made, collections] = await Promise.all([
    kindsOf(db).find().toArray(),
    db.listCollections({}, { nameOnly: true }).toArray(),
  ])
  const known = new Map(made.map((each) => [each._id, each]))
  const names = new Set(collections.map(({ name }) => name))
  return kinds.filter((kind) => {
    const { fields, indexes } = known.get(kind.name) ?? {}
    // an earlier release that ran in between has recorded its own fields, and its records lack the others
    return names.has(kind.name) && indexes === hashOf(kind) && fields?.join() === fieldsOf(kind).join()
  })
}

const fieldsOf = (kind: RecordKind): string[] => [...indexedFields(kind)].sort()

const hashOf = (kind: RecordKind): string =>
  createHash('sha256')
    .update(JSON.stringify(indexesOf(kind)))
    .digest('hex')

/** Creates a kind's indexes. Newly indexed fields are first copied out of the records' data. */
export const prepareKind = async (db: Db, kind: RecordKind): Promise<void> => {
  if (['commits', 'blobs', 'kinds', 'leases'].includes(kind.name))
    throw new Error(`${kind.name} is taken by the store itself`)
  const kinds = kindsOf(db)
  const records = db.collection<RecordDocument>(kind.name)
  const known = await kinds.findOne({ _id: kind.name })
  const fields = fieldsOf(kind)
  if (known && fields.some((field) => !known.fields.includes(field))) await refill(records, kind)
  await records.createIndexes(indexesOf(kind), whilePreparing)
  await kinds.updateOne({ _id: kind.name }, { $set: { fields, indexes: hashOf(kind) } }, { upsert: true })
}

/** A record that changes meanwhile is skipped: its writer fills in its keys. */
const refill = async (records: Collection<RecordDocument>, kind: RecordKind): Promise<void> => {
  for await (const { _id, version, data } of records.find()) {
    await records.updateOne({ _id, version }, { $set: { keys: keysOf(kind, JSON.parse(data)) } })
  }
}

const indexesOf = (kind: RecordKind): IndexDescription[] => [
  ...listIndexes(kind).map(listIndex),
  { key: { expires_at: 1 }, name: 'by_expiry', partialFilterExpression: { expires_at: { $exists: true } } },
  ...(kind.outbox
    ? [{ key: { delivered: 1, _id: 1 } as const, name: 'by_outbox', partialFilterExpression: { delivered: false } }]
    : []),
  ...(kind.unique ?? []).map(({ fields, global = false }) => {
    const paths = fields.map((field) => `keys.${field}`)
    return {
      key: Object.fromEntries([...(global ? [] : ['project']), ...paths].map((path) => [path, 1])),
      name: `${global ? 'global' : 'unique'}_${fields.join('_')}`,
      unique: true,
      partialFilterExpression: Object.fromEntries(paths.map((path) => [path, { $exists: true }])),
    }
  }),
]

/**
 * Partial indexes omit records without a tenant or user from filters within one. A condition by `$type` would not match
 * an equality.
 */
const listIndex = ({ name, owner, fields }: ListIndex): IndexDescription => {
  const paths = [...owner, ...fields.map((field) => `keys.${field}`), '_id']
  const key = Object.fromEntries(paths.map((path) => [path, 1]))
  const inner = owner.at(-1) ?? 'project'
  if (inner === 'project' || fields.length === 0) return { key, name }
  return { key, name, partialFilterExpression: { [inner]: { $gte: '' } } }
}
