import { setTimeout as delay } from 'node:timers/promises'
import type { Db, Filter } from 'mongodb'
import type { Scope } from '#storage/scope.ts'
import { keyText } from '../commit-row.ts'
import {
  type Json,
  type JsonObject,
  type RecordKind,
  type RecordQuery,
  type RecordStore,
  type StoredRecord,
  StoreUnavailable,
} from '../ports.ts'
import { dueField, ownerScope } from '../record-keys.ts'
import { listName, type Total, Totals } from '../totals.ts'
import { duplicateKey, guarded, isDuplicate } from './errors.ts'
import { enlist, preparedKinds, prepareKind } from './kind-collection.ts'
import { coveredQuery, inScope, keyed, listQuery } from './list-query.ts'
import { foundBy } from './row-lists.ts'
import { RowQueue } from './row-queue.ts'
import { type RecordDocument, toRecord, toRecordDocument, unexpired, type WriteError, writeErrorsIn } from './schema.ts'
import { scattered } from './sharding.ts'
import type { StartClient } from './start-client.ts'
import { dropUnusedIndexes } from './unused-indexes.ts'

type Where = { readonly [field: string]: Json } | undefined

const durable = { writeConcern: { w: 'majority', j: true } } as const

/**
 * Number of kinds prepared concurrently. Servers build indexes one at a time when several nodes start on an empty
 * store, and waiting for one must not use up the connections.
 */
const preparedAtOnce = 4
/** A server that is unavailable for longer than this makes the start fail. */
const preparePatienceMs = 20_000
const prepareAgainMs = 250
/** Time in ms after a start at which indexes that existed already are checked, and between later checks. */
const pollMs = 30_000

/**
 * Timeout of a read on the server, in ms: shorter than that of its socket, so that the server does not go on for a
 * caller that has gone.
 */
const bounded = { maxTimeMS: 2_500 } as const

/** Every how many checks it is seen which indexes are unused: each hour. */
const checksPerDrop = 120

/** Records in MongoDB: one collection per kind. */
export class MongoRecords implements RecordStore {
  readonly #db: Db
  readonly #now: () => number
  readonly #starting: Pick<StartClient, 'run'>
  readonly #rows: RowQueue
  readonly #totals = new Totals()
  readonly #kinds = new Map<string, RecordKind>()
  #later: NodeJS.Timeout | undefined
  #closed = false

  /**
   * @param now ms since the epoch; decides which records have expired.
   * @param starting builds the indexes.
   */
  constructor(db: Db, now: () => number, starting: Pick<StartClient, 'run'>) {
    this.#db = db
    this.#now = now
    this.#starting = starting
    this.#rows = new RowQueue(db, (kind) => this.#declared(kind))
  }

  async prepare(kinds: readonly RecordKind[]): Promise<void> {
    for (const kind of kinds) this.#kinds.set(kind.name, kind)
    await this.#starting.run(async (db) => {
      const known = await this.#persistently(() => preparedKinds(db, kinds))
      const others = kinds.filter((kind) => !known.includes(kind))
      for (let first = 0; first < others.length; first += preparedAtOnce) {
        const some = others.slice(first, first + preparedAtOnce)
        await Promise.all(some.map((kind) => this.#persistently(() => prepareKind(db, kind))))
      }
    })
    this.#checkLater()
  }

  /**
   * After the start's own requests, restores indexes that were dropped by hand. From then on, finds rows that nodes of
   * another release write, and drops indexes that only such nodes needed.
   */
  #checkLater(nth = 0): void {
    const next = async (): Promise<void> => {
      await this.#kept(nth === 0 ? prepareKind : enlist)
      if (nth % checksPerDrop === 0) await this.#kept((db, kind) => dropUnusedIndexes(db, kind, this.#now()))
      if (!this.#closed) this.#checkLater(nth + 1)
    }
    clearTimeout(this.#later)
    this.#later = setTimeout(() => void next(), pollMs).unref()
  }

  /** A failure is left to the next time. */
  async #kept(keep: (db: Db, kind: RecordKind) => Promise<void>): Promise<void> {
    for (const kind of this.#kinds.values()) if (!this.#closed) await keep(this.#db, kind).catch(() => undefined)
  }

  /** The kind as prepared: kinds of actors get lists in addition to those that their capability declares. */
  #declared(kind: RecordKind): RecordKind {
    return this.#kinds.get(kind.name) ?? kind
  }

  /**
   * Retries `prepare` while the server seems unavailable, as it may for moments while it builds indexes for several
   * nodes. Preparing twice is harmless.
   */
  async #persistently<T>(prepare: () => Promise<T>): Promise<T> {
    for (const deadline = performance.now() + preparePatienceMs; ; ) {
      try {
        return await guarded(prepare())
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || performance.now() > deadline) throw error
        await delay(prepareAgainMs)
      }
    }
  }

  get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null> {
    return this.#one(kind, { _id: id, ...inScope(scope), ...unexpired(this.#now()) })
  }

  async getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]> {
    if (ids.length === 0) return []
    const filter = { _id: { $in: [...ids] }, ...inScope(scope), ...unexpired(this.#now()) }
    return (await guarded(this.#of(kind).find(filter).toArray())).map(toRecord)
  }

  async find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, { ...keyed(kind, key, false), ...inScope(scope), ...unexpired(this.#now()) })
  }

  async findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, { ...keyed(kind, key, true), ...unexpired(this.#now()) })
  }

  async insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'> {
    const document = await toRecordDocument(record, foundBy(this.#declared(kind), record))
    const insert = async () => (await this.#of(kind).insertOne(document, durable)).acknowledged
    const done = (await unlessTaken(insert)) || ((await this.#dropped(kind)) && (await unlessTaken(insert)))
    return done ? 'done' : 'exists'
  }

  /**
   * Sends the bare command, as for commits (append-queue.ts): each record has an outcome, and no retry collides with
   * its own first write.
   */
  async insertMany(kind: RecordKind, records: readonly StoredRecord[]): Promise<readonly ('done' | 'exists')[]> {
    if (records.length === 0) return []
    const documents: RecordDocument[] = []
    for (const record of records) documents.push(await toRecordDocument(record, foundBy(this.#declared(kind), record)))
    const { writeConcern } = durable
    const answer = await guarded(this.#db.command({ insert: kind.name, documents, ordered: false, writeConcern }))
    const refused = new Set(writeErrorsIn(answer).map(refusedAt))
    return Promise.all(records.map(async (record, at) => (refused.has(at) ? this.insert(kind, record) : 'done')))
  }

  async replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'> {
    const { _id, ...document } = await toRecordDocument(record, foundBy(this.#declared(kind), record))
    const { project, version } = record
    const stored = { _id, project, ...unexpired(this.#now()) }
    const replace = async () =>
      (await this.#of(kind).replaceOne({ ...stored, version: version - 1 }, document, durable)).matchedCount === 1
    if (await unlessTaken(replace)) return 'done'
    if ((await this.#dropped(kind)) && (await unlessTaken(replace))) return 'done'
    return (await this.#one(kind, stored)) ? 'conflict' : 'missing'
  }

  async remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean> {
    const filter = { _id: id, ...inScope(scope), ...unexpired(this.#now()) }
    return (await guarded(this.#of(kind).deleteOne(filter, durable))).deletedCount === 1
  }

  async list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { after, ascending = false, skip = 0, limit } = query
    if (limit < 1) return []
    const declared = this.#declared(kind)
    const order = { _id: ascending ? 1 : -1 } as const
    const from = skip === 0 ? after : await this.#passed(declared, scope, { ...query, skip })
    if (from === null) return []
    const page = from === undefined ? {} : { _id: ascending ? { $gt: from } : { $lt: from } }
    const { filter, options } = listQuery(declared, scope, query.where)
    const cursor = this.#of(kind)
      .find({ ...filter, ...page, ...unexpired(this.#now()) }, { ...options, ...bounded })
      .sort(order)
      .limit(limit)
    return (await guarded(cursor.toArray())).map(toRecord)
  }

  /** Returns the id of the last of `skip` rows, found in the index alone; null when there are no more than these. */
  async #passed(
    kind: RecordKind,
    scope: Scope,
    { where, after, ascending = false, skip }: Omit<RecordQuery, 'limit'> & { readonly skip: number },
  ): Promise<string | null> {
    const { filter, options } = coveredQuery(kind, scope, where)
    const page = after === undefined ? {} : { _id: ascending ? { $gt: after } : { $lt: after } }
    const cursor = this.#of(kind)
      .find({ ...filter, ...page, ...unexpired(this.#now()) }, { ...options, ...bounded, projection: { _id: 1 } })
      .sort({ _id: ascending ? 1 : -1 })
      .skip(skip - 1)
      .limit(1)
    return (await guarded(cursor.toArray()))[0]?._id ?? null
  }

  async count(kind: RecordKind, scope: Scope, where?: Where): Promise<number> {
    return this.#countTo(kind, scope, { where })
  }

  total(kind: RecordKind, scope: Scope, where?: Where): Promise<Total> {
    return this.#totals.of(listName(kind, scope, where), (limit) => this.#countTo(kind, scope, { where, limit }))
  }

  async #countTo(
    kind: RecordKind,
    scope: Scope,
    { where, limit }: { readonly where: Where; readonly limit?: number | undefined },
  ): Promise<number> {
    const { filter, options } = coveredQuery(this.#declared(kind), scope, where)
    const counted = { ...options, ...bounded, ...(limit !== undefined && { limit }) }
    return guarded(this.#of(kind).countDocuments({ ...filter, ...unexpired(this.#now()) }, counted))
  }

  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void> {
    return this.#rows.project(rows)
  }

  async openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const filter = { delivered: false as const, ...(after !== null && { _id: { $gt: after } }) }
    return (await guarded(this.#of(kind).find(filter, scattered('sweep')).sort({ _id: 1 }).limit(limit).toArray())).map(
      toRecord,
    )
  }

  async withOpenOutboxes(kinds: readonly RecordKind[]): Promise<readonly RecordKind[]> {
    const [first, ...others] = kinds
    if (first === undefined) return []
    const open = ({ name }: RecordKind) => [
      { $match: { delivered: false } },
      { $limit: 1 },
      { $project: { _id: 0, kind: { $literal: name } } },
    ]
    const unions = others.map((kind) => ({ $unionWith: { coll: kind.name, pipeline: open(kind) } }))
    const found = await guarded(
      this.#of(first)
        .aggregate<{ readonly kind: string }>([...open(first), ...unions], scattered('sweep'))
        .toArray(),
    )
    return kinds.filter(({ name }) => found.some(({ kind }) => kind === name))
  }

  async ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const filter = { ...unexpired(this.#now()), ...(after !== null && { _id: { $gt: after } }) }
    return (
      await guarded(this.#of(kind).find(filter, scattered('every_project')).sort({ _id: 1 }).limit(limit).toArray())
    ).map(toRecord)
  }

  async due(kind: RecordKind, at: string, limit: number): Promise<readonly StoredRecord[]> {
    const path = `keys.${dueField(kind)}`
    const found = { ...unexpired(this.#now()), [path]: { $lte: keyText(at) } }
    const rows = this.#of(kind)
      .find(found, scattered('sweep'))
      .sort({ [path]: 1 })
      .limit(limit)
    return (await guarded(rows.toArray())).map(toRecord)
  }

  async closeOutbox(
    kind: RecordKind,
    { id, project, version }: Pick<StoredRecord, 'id' | 'project' | 'version'>,
  ): Promise<boolean> {
    const stillOpen = { _id: id, project, version, delivered: false as const }
    const expired = { ...stillOpen, expires_at: { $lte: this.#now() } }
    if ((await guarded(this.#of(kind).deleteOne(expired))).deletedCount === 1) return true
    const close = { $unset: { outbox: '' as const, delivered: '' as const } }
    return (await guarded(this.#of(kind).updateOne(stillOpen, close))).matchedCount === 1
  }

  async clear(kind: RecordKind, scope: Scope, limit: number): Promise<number> {
    const owned = { ...inScope(ownerScope(scope)), delivered: { $exists: false } }
    return this.#removeSome(kind, owned, { limit, options: durable })
  }

  async left(kind: RecordKind, scope: Scope): Promise<number> {
    return guarded(this.#of(kind).countDocuments(inScope(ownerScope(scope))))
  }

  async sweep(kind: RecordKind, now: number, limit?: number): Promise<number> {
    const gone = { expires_at: { $lte: now }, delivered: { $exists: false } }
    if (limit === undefined) return (await guarded(this.#of(kind).deleteMany(gone, scattered('sweep')))).deletedCount
    return this.#removeSome(kind, gone, { limit, options: scattered('sweep') })
  }

  /** Resolves when all requested rows are written. */
  drain(): Promise<void> {
    this.#closed = true
    return this.#rows.drain()
  }

  async #removeSome(
    kind: RecordKind,
    filter: Filter<RecordDocument>,
    { limit, options }: { readonly limit: number; readonly options: typeof durable | ReturnType<typeof scattered> },
  ): Promise<number> {
    const ids = await guarded(
      this.#of(kind)
        .find(filter, { ...options, projection: { _id: 1 }, limit })
        .toArray(),
    )
    if (ids.length === 0) return 0
    const gone = { ...filter, _id: { $in: ids.map(({ _id }) => _id) } }
    return (await guarded(this.#of(kind).deleteMany(gone, options))).deletedCount
  }

  #of(kind: RecordKind) {
    return this.#db.collection<RecordDocument>(kind.name)
  }

  async #dropped(kind: RecordKind): Promise<boolean> {
    return (await this.sweep(kind, this.#now())) > 0
  }

  async #one(kind: RecordKind, filter: Filter<RecordDocument>): Promise<StoredRecord | null> {
    const document = await guarded(this.#of(kind).findOne(filter))
    return document && toRecord(document)
  }
}

/** Runs a write; false when a unique index refused it. */
const unlessTaken = async (write: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await guarded(write())
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/**
 * Position of a record in a batch that a unique index refused.
 *
 * @throws {StoreUnavailable} when it was refused for another reason.
 */
const refusedAt = ({ index, code }: WriteError): number => {
  if (code === duplicateKey) return index
  throw new StoreUnavailable(`mongodb refused a record with code ${code}`)
}
