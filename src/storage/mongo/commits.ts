import type { Collection, Db, Filter, FindOptions } from 'mongodb'
import { EventPage, fromRow, keyOf } from '../commit-row.ts'
import { endOf, isSettled, type Merge, mergedAtOnce, mergesOf, partsOf } from '../merged-parts.ts'
import type {
  AppendOutcome,
  Commit,
  CommitKey,
  CommitStore,
  DueQuery,
  EffectParts,
  HeadBeside,
  MergeOutcome,
  OpenCommit,
  OpenQuery,
  RecordKind,
  SettleWork,
  StoredLogEvent,
} from '../ports.ts'
import { AppendQueue } from './append-queue.ts'
import { guarded } from './errors.ts'
import {
  byId,
  type CommitDocument,
  commitIndexes,
  partRow,
  rowOf,
  unexpired,
  whilePreparing,
  withKey,
} from './schema.ts'
import { SettleQueue } from './settle-queue.ts'
import { scattered } from './sharding.ts'

const name = 'commits'

/**
 * Timeout in ms of a scan: a page of one project's commits may lie behind many of other projects. The client's default
 * is 3 s.
 */
const scanTimeoutMs = 600_000

const options = { readConcern: { level: 'majority' }, writeConcern: { w: 'majority', j: true } } as const

/** Creates the indexes of commits. */
export const prepareCommits = async (db: Db): Promise<void> => {
  await guarded(db.collection<CommitDocument>(name, options).createIndexes(commitIndexes, whilePreparing))
}

/**
 * Commits in MongoDB. Reads see only what a majority holds, so that no effect runs for a commit that a failover rolls
 * back.
 */
export class MongoCommits implements CommitStore {
  readonly #collection: Collection<CommitDocument>
  readonly #appends: AppendQueue
  readonly #settles: SettleQueue
  readonly #now: () => number

  /** @param now ms since the epoch; decides which records have expired. */
  constructor(db: Db, now: () => number) {
    this.#now = now
    this.#collection = db.collection<CommitDocument>(name, options)
    this.#appends = new AppendQueue(db, name)
    this.#settles = new SettleQueue(db, name)
  }

  append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    return this.#appends.append(commits)
  }

  async head(actor: string): Promise<Commit | null> {
    return (await this.#find(ofActor(actor), { sort: { _id: -1 }, limit: 1 }))[0] ?? null
  }

  /** The second read of a union begins when the first has ended, or both read one snapshot. */
  async headBeside(actor: string, kind: RecordKind, project: string): Promise<HeadBeside> {
    const record = { _id: actor, project, ...unexpired(this.#now()) }
    const pipeline = [
      ...[{ $match: ofActor(actor) }, { $sort: { _id: -1 } }, { $limit: 1 }],
      { $unionWith: { coll: kind.name, pipeline: [{ $match: record }, { $project: { data: 1 } }] } },
    ]
    const found = await guarded(
      this.#collection.aggregate<CommitDocument | { readonly _id: string; readonly data: string }>(pipeline).toArray(),
    )
    const [first, last] = [found[0], found.at(-1)]
    return {
      head: first !== undefined && 'seq' in first ? fromRow(rowOf(first)) : null,
      beside: last !== undefined && 'data' in last ? JSON.parse(last.data) : null,
    }
  }

  at(actor: string, seq: number): Promise<Commit | null> {
    return this.#one(withKey({ actor, seq }), byId)
  }

  byCause(actor: string, cause: string): Promise<Commit | null> {
    return this.#one({ actor, cause })
  }

  async ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]> {
    if (limit < 1) return []
    return this.#find(
      { actor, _id: { $gt: keyOf({ actor, seq: after }), $lt: `${actor};` } },
      { sort: { _id: 1 }, limit },
    )
  }

  async events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    const page = new EventPage(after, limit)
    if (limit < 1) return []
    const cursor = this.#collection
      .find({ actor, last_sequence: { $gt: after }, events: { $exists: true } })
      .project<{ events: string; at: number }>({ _id: 0, events: 1, at: 1 })
      .sort({ last_sequence: 1 })
      .limit(limit)
    const read = async () => {
      for await (const { events, at } of cursor) {
        if (!page.take(events, at)) break
      }
    }
    await guarded(read())
    return page.events
  }

  async open({ limit, shards, from, until }: OpenQuery): Promise<readonly OpenCommit[]> {
    if (limit < 1) return []
    const cursor = this.#collection
      .find(
        {
          open: true,
          shard: inShards(shards),
          ...(until !== undefined && { at: { $lte: until } }),
          ...(from && fromPosition(from)),
        },
        scattered('sweep'),
      )
      .project<OpenCommit>({ _id: 0, actor: 1, seq: 1, shard: 1, epoch: 1, at: 1 })
      .sort({ shard: 1, at: 1, seq: 1 })
      .limit(limit)
    return guarded(cursor.toArray())
  }

  due({ now, from = 0, limit, shards }: DueQuery): Promise<readonly Commit[]> {
    const filter = { due: { $gte: from, $lte: now }, shard: inShards(shards) }
    return this.#find(filter, { sort: { due: 1 }, limit, ...scattered('sweep') })
  }

  async ofProject(project: string | null, after: CommitKey | null, limit: number): Promise<readonly Commit[]> {
    if (limit < 1) return []
    const filter = { ...(project !== null && { project }), ...(after !== null && { _id: { $gt: keyOf(after) } }) }
    const options = { sort: { _id: 1 }, ...byId, limit, timeoutMS: scanTimeoutMs, ...scattered('tools') } as const
    const documents = await guarded(this.#collection.find(filter, options).toArray())
    return documents.map((document) => fromRow(rowOf(document)))
  }

  settle(work: SettleWork): Promise<void> {
    return this.#settles.settle(work)
  }

  async merge({ actor, effect, after, before, epoch }: EffectParts): Promise<MergeOutcome> {
    const head = await guarded(
      this.#collection.findOne(ofActor(actor), { sort: { _id: -1 }, projection: { epoch: 1 } }),
    )
    if ((head?.epoch ?? 0) > epoch) return { kind: 'overtaken' }
    const between = { actor, _id: { $gt: keyOf({ actor, seq: after }), $lte: keyOf({ actor, seq: before }) } }
    const cursor = this.#collection
      .find({ ...between, events: { $exists: true } }, byId)
      .sort({ _id: 1 })
      .limit(mergedAtOnce)
    const rows = (await guarded(cursor.toArray())).map(partRow)
    const parts = partsOf(rows, effect)
    if (!parts.every(isSettled)) return { kind: 'waits' }
    let commits = 0
    for (const merge of mergesOf(parts, { end: endOf(rows, before) })) commits += await this.#merge(actor, merge)
    return { kind: 'removed', commits, next: rows.length < mergedAtOnce ? null : (rows.at(-1)?.seq ?? null) }
  }

  /**
   * Merges parts while another process may do the same: a commit is changed or removed only while it holds the events
   * that were read, so that every removed event is in a commit that stays.
   */
  async #merge(actor: string, { into, events, parts }: Merge): Promise<number> {
    const as = (row: Merge['into']) => ({ ...withKey({ actor, seq: row.seq }), events: row.events })
    if (events !== null) {
      const change = { $set: { events }, $unset: { snapshot: '' } } as const
      const { matchedCount } = await guarded(this.#collection.updateOne(as(into), change, byId))
      if (matchedCount === 0) return 0
    }
    const removals = parts.map((part) => ({ deleteOne: { filter: as(part), ...byId } }))
    return (await guarded(this.#collection.bulkWrite(removals, { ordered: true }))).deletedCount
  }

  async actorsOf(
    project: string,
    tenant: string | null,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly string[]> {
    if (limit < 1) return []
    const cursor = this.#collection
      .find(
        { project, ...(tenant !== null && ofTenant(tenant)), seq: 1, actor: { $gt: after ?? '' } },
        scattered('deletion'),
      )
      .project<{ actor: string }>({ _id: 0, actor: 1 })
      .sort({ actor: 1 })
      .limit(limit)
    return (await guarded(cursor.toArray())).map(({ actor }) => actor)
  }

  async forget(actor: string): Promise<void> {
    await guarded(this.#collection.deleteMany({ actor, seq: { $gt: 1 } }))
    await guarded(this.#collection.deleteMany({ actor }))
  }

  /** Resolves when all pending writes are done; never rejects. */
  async drain(): Promise<void> {
    await Promise.all([this.#appends.drain(), this.#settles.drain()])
  }

  async #one(filter: Filter<CommitDocument>, options: FindOptions = {}): Promise<Commit | null> {
    const document = await guarded(this.#collection.findOne(filter, options))
    return document && fromRow(rowOf(document))
  }

  async #find(filter: Filter<CommitDocument>, options: FindOptions & { limit: number }): Promise<readonly Commit[]> {
    if (options.limit < 1) return []
    const documents = await guarded(this.#collection.find(filter, options).toArray())
    return documents.map((document) => fromRow(rowOf(document)))
  }
}

const ofActor = (actor: string): Filter<CommitDocument> => ({ actor, _id: { $gte: `${actor}:`, $lt: `${actor};` } })

/**
 * Matches this position in the order of open commits and every later one; only the first condition narrows the index
 * range.
 */
const fromPosition = ({ shard, at, seq }: NonNullable<OpenQuery['from']>): Filter<CommitDocument> => ({
  $and: [{ shard: { $gte: shard } }],
  $or: [{ shard: { $gt: shard } }, { shard, at: { $gt: at } }, { shard, at, seq: { $gte: seq } }],
})

/**
 * Matches all shards by a range when none are given, since an index is used only with a condition on its first field.
 */
const inShards = (shards: readonly number[] | undefined) => (shards ? { $in: [...shards] } : { $gte: 0 })

/** Matches a tenant in the form of the partial index that omits commits without one. */
const ofTenant = (tenant: string) => ({ tenant: { $eq: tenant, $type: 'string' as const } })
