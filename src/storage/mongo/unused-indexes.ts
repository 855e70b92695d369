import type { Db } from 'mongodb'
import type { RecordKind } from '../ports.ts'
import { guarded } from './errors.ts'
import { type KindDocument, kindsOf } from './kind-collection.ts'
import { listsField } from './row-lists.ts'

/** How long an index has to be without use, in ms, before it is dropped: longer than a rolling upgrade takes. */
export const unusedForMs = 24 * 60 * 60 * 1000

/** Names of the indexes for lists that this release and earlier ones make; all others are the operator's. */
const ofLists = /^(by_(project|tenant|user)|filter_\w+|lists_[0-9a-f]{8})$/

/**
 * Drops the indexes for lists that this release does not declare, once no list has been read by them for a day: nodes
 * of an earlier release read by theirs. Call it from time to time.
 *
 * @throws {StoreUnavailable}
 */
export const dropUnusedIndexes = async (db: Db, kind: RecordKind, now: number): Promise<void> => {
  const uses = await usesOf(db, kind)
  const kinds = kindsOf(db)
  if (Object.keys(uses).length === 0) return
  const { unused } = (await guarded(kinds.findOne({ _id: kind.name }))) ?? {}
  if (unused === undefined || !isSame(unused.uses, uses)) {
    await guarded(kinds.updateOne({ _id: kind.name }, { $set: { unused: { since: now, uses } } }))
    return
  }
  if (now - unused.since < unusedForMs) return
  for (const name of Object.keys(uses)) await guarded(db.collection(kind.name).dropIndex(name)).catch(alreadyGone)
  await guarded(kinds.updateOne({ _id: kind.name }, { $unset: { unused: '' } }))
}

type Uses = NonNullable<KindDocument['unused']>['uses']

/** How often the server has read by each index that is not declared, since its last start. */
const usesOf = async (db: Db, kind: RecordKind): Promise<Uses> => {
  const records = db.collection(kind.name)
  const names = (await guarded(records.indexes())).flatMap(({ name = '' }) =>
    ofLists.test(name) && name !== listsField(kind) ? [name] : [],
  )
  if (names.length === 0) return {}
  // the role readWrite may not read the statistics: then a day has to pass since the upgrade
  const statistics = await records
    .aggregate([{ $indexStats: {} }])
    .toArray()
    .catch(() => [])
  return Object.fromEntries(
    // a cluster returns those of each shard
    names.map((name) => [
      name,
      statistics.reduce((sum, each) => sum + (each.name === name ? each.accesses.ops : 0), -1),
    ]),
  )
}

const isSame = (before: Uses, now: Uses): boolean =>
  Object.entries(now).every(([name, count]) => before[name] === count)

/** Another node drops them at the same time. */
const alreadyGone = (): void => undefined
