import { createHash } from 'node:crypto'
import type { Collection, Db, Filter, IndexDescription } from 'mongodb'
import { listIndexes } from '../list-index.ts'
import type { RecordKind } from '../ports.ts'
import { indexedFields } from '../record-keys.ts'
import { guarded } from './errors.ts'
import { listsIndex, ownerIndex } from './list-query.ts'
import { foundBy, listsField, listsIndexKey } from './row-lists.ts'
import { type RecordDocument, whilePreparing } from './schema.ts'
import { scattered } from './sharding.ts'

/** A document of the collection `kinds`: the indexed fields of a kind, and the hash of the indexes created for it. */
export interface KindDocument {
  readonly _id: string
  readonly fields: readonly string[]
  readonly indexes?: string
  /** Indexes that no release of today declares (unused-indexes.ts). */
  readonly unused?: { readonly since: number; readonly uses: Readonly<Record<string, number>> }
}

/** The collection of kinds. */
export const kindsOf = (db: Db): Collection<KindDocument> => db.collection<KindDocument>('kinds', whilePreparing)

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
  const indexes = indexesOf(kind)
  const lists = listsField(kind)
  // the index of the lists finds the rows that lack them
  if (lists !== null)
    await records.createIndexes(
      indexes.filter(({ name }) => name === listsIndex(lists)),
      whilePreparing,
    )
  await enlist(db, kind, known && fields.some((field) => !known.fields.includes(field)) ? everyRow : unlisted)
  await records.createIndexes(indexes, whilePreparing)
  await kinds.updateOne({ _id: kind.name }, { $set: { fields, indexes: hashOf(kind) } }, { upsert: true })
}

type Selection = (lists: ReturnType<typeof listsField>) => { readonly filter: object; readonly hint?: string } | null

const everyRow: Selection = () => ({ filter: {} })
const unlisted: Selection = (lists) => lists && { filter: { [lists]: null }, hint: listsIndex(lists) }

/** Rows that are read and written at a time: few, since a check beside requests must not hold the event loop. */
const atOnce = 200

/**
 * Writes the fields by which rows are found where they are missing: those of releases with another declaration, which
 * may still run. The newest rows of a project come first, since lists begin with them. A row that changes meanwhile is skipped: its
 * writer fills them in.
 *
 * @throws {StoreUnavailable}
 */
export const enlist = async (db: Db, kind: RecordKind, select: Selection = unlisted): Promise<void> => {
  const selection = select(listsField(kind))
  if (selection === null) return
  const records = db.collection<RecordDocument>(kind.name)
  const { filter, hint } = selection
  const options = {
    ...(hint && { hint }),
    sort: { project: -1, _id: -1 },
    limit: atOnce,
    ...scattered('other_release'),
  } as const
  for (let below: Filter<RecordDocument> = {}; ; ) {
    const rows = await guarded(records.find({ ...filter, ...below }, options).toArray())
    const writes = rows.map(({ _id, version, data, ...owned }) => ({
      updateOne: {
        filter: { _id, project: owned.project, version },
        update: { $set: foundBy(kind, { ...owned, data: JSON.parse(data) }) },
      },
    }))
    if (writes.length > 0) await guarded(records.bulkWrite(writes, { ordered: false }))
    const last = rows.at(-1)
    if (last !== undefined) below = { project: last.project, _id: { $lt: last._id } }
    else if (typeof below.project === 'string') below = { project: { $lt: below.project } }
    else return
  }
}

const indexesOf = (kind: RecordKind): IndexDescription[] => [
  ...listIndexes(kind).flatMap(({ owner, fields }) =>
    fields.length > 0 ? [] : [{ key: ascending(...owner, '_id', 'expires_at'), name: ownerIndex({ owner }) }],
  ),
  ...(listsField(kind) === null ? [] : [listIndex(String(listsField(kind)))]),
  timeIndex(kind.due === undefined ? 'expires_at' : `keys.${kind.due}`),
  ...(kind.outbox
    ? [{ key: { delivered: 1, _id: 1 } as const, name: 'by_outbox', partialFilterExpression: { delivered: false } }]
    : []),
  ...(kind.unique ?? []).map(({ fields, global = false }) => {
    const paths = fields.map((field) => `keys.${field}`)
    return {
      key: ascending(...(global ? [] : ['project']), ...paths),
      name: `${global ? 'global' : 'unique'}_${fields.join('_')}`,
      unique: true,
      partialFilterExpression: Object.fromEntries(paths.map((path) => [path, { $exists: true }])),
    }
  }),
]

const timeIndex = (path: string): IndexDescription => ({
  key: { [path]: 1 },
  name: path === 'expires_at' ? 'by_expiry' : 'by_due',
  partialFilterExpression: { [path]: { $exists: true } },
})

const listIndex = (field: string): IndexDescription => ({
  key: ascending(field, ...listsIndexKey),
  name: listsIndex(field),
})

const ascending = (...paths: readonly string[]): Record<string, 1> => Object.fromEntries(paths.map((path) => [path, 1]))
