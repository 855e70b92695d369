import { setTimeout as delay } from 'node:timers/promises'
import type { Db, Filter } from 'mongodb'
import type { Scope } from '#storage/scope.ts'
import { listIndexFor } from '../list-index.ts'
import {
  type Json,
  type JsonObject,
  type RecordKind,
  type RecordQuery,
  type RecordStore,
  type StoredRecord,
  StoreUnavailable,
} from '../ports.ts'
import { conditions, fieldText, ownerScope, uniqueKeyFor } from '../record-keys.ts'
import { listName, type Total, Totals } from '../totals.ts'
import { duplicateKey, guarded, isDuplicate } from './errors.ts'
import { keysOf, preparedKinds, prepareKind } from './kind-collection.ts'
import { RowQueue } from './row-queue.ts'
import { type RecordDocument, toRecord, toRecordDocument, type WriteError, writeErrorsIn } from './schema.ts'
import type { StartClient } from './start-client.ts'

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
/** Time in ms after a start at which indexes that existed already are checked. */
const pollMs = 30_000

/** Records in MongoDB: one collection per kind. */
export class MongoRecords implements RecordStore {
  readonly #db: Db
  readonly #now: () => number
  readonly #starting: Pick<StartClient, 'run'>
  readonly #rows: RowQueue
  readonly #totals = new Totals()
  #closed = false

  /**
   * @param now ms since the epoch; decides which records have expired.
   * @param starting builds the indexes.
   */
  constructor(db: Db, now: () => number, starting: Pick<StartClient, 'run'>) {
    this.#db = db
    this.#now = now
    this.#starting = starting
    this.#rows = new RowQueue(db)
  }

  async prepare(kinds: readonly RecordKind[]): Promise<void> {
    const made = await this.#starting.run(async (db) => {
      const known = await this.#persistently(() => preparedKinds(db, kinds))
      const others = kinds.filter((kind) => !known.includes(kind))
      for (let first = 0; first < others.length; first += preparedAtOnce) {
        const some = others.slice(first, first + preparedAtOnce)
        await Promise.all(some.map((kind) => this.#persistently(() => prepareKind(db, kind))))
      }
      return known
    })
    this.#checkLater(made)
  }

  /**
   * Restores indexes that were dropped by hand, after the start's own requests; a failure is left to the next start.
   */
  #checkLater(kinds: readonly RecordKind[]): void {
    const check = async (): Promise<void> => {
      for (const kind of kinds) if (!this.#closed) await prepareKind(this.#db, kind).catch(() => undefined)
    }
    if (kinds.length > 0) setTimeout(() => void check(), pollMs).unref()
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
    return this.#one(kind, { _id: id, ...inScope(scope), ...this.#live() })
  }

  async getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]> {
    if (ids.length === 0) return []
    const filter = { _id: { $in: [...ids] }, ...inScope(scope), ...this.#live() }
    return (await guarded(this.#of(kind).find(filter).toArray())).map(toRecord)
  }

  async find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, { ...keyed(kind, key, false), ...inScope(scope), ...this.#live() })
  }

  async findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, { ...keyed(kind, key, true), ...this.#live() })
  }

  async insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'> {
    const document = await toRecordDocument(record, keysOf(kind, record.data))
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
    for (const record of records) documents.push(await toRecordDocument(record, keysOf(kind, record.data)))
    const { writeConcern } = durable
    const answer = await guarded(this.#db.command({ insert: kind.name, documents, ordered: false, writeConcern }))
    const refused = new Set(writeErrorsIn(answer).map(refusedAt))
    return Promise.all(records.map(async (record, at) => (refused.has(at) ? this.insert(kind, record) : 'done')))
  }

  async replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'> {
    const { _id, ...document } = await toRecordDocument(record, keysOf(kind, record.data))
    const { project, version } = record
    const stored = { _id, project, ...this.#live() }
    const replace = async () =>
      (await this.#of(kind).replaceOne({ ...stored, version: version - 1 }, document, durable)).matchedCount === 1
    if (await unlessTaken(replace)) return 'done'
    if ((await this.#dropped(kind)) && (await unlessTaken(replace))) return 'done'
    return (await this.#one(kind, stored)) ? 'conflict' : 'missing'
  }

  async remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean> {
    const filter = { _id: id, ...inScope(scope), ...this.#live() }
    return (await guarded(this.#of(kind).deleteOne(filter, durable))).deletedCount === 1
  }

  async list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { after, ascending = false, skip = 0, limit } = query
    if (limit < 1) return []
    const page = after === undefined ? {} : { _id: ascending ? { $gt: after } : { $lt: after } }
    const filter = { ...inScope(scope), ...filtered(kind, query.where), ...page, ...this.#live() }
    const cursor = this.#of(kind)
      .find(filter, hinted(kind, scope, query.where))
      .sort({ _id: ascending ? 1 : -1 })
      .skip(skip)
      .limit(limit)
    return (await guarded(cursor.toArray())).map(toRecord)
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
    const filter = { ...inScope(scope), ...filtered(kind, where), ...this.#live() }
    const options = { ...hinted(kind, scope, where), ...(limit !== undefined && { limit }) }
    return guarded(this.#of(kind).countDocuments(filter, options))
  }

  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void> {
    return this.#rows.project(rows)
  }

  async openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const filter = { delivered: false as const, ...(after !== null && { _id: { $gt: after } }) }
    return (await guarded(this.#of(kind).find(filter).sort({ _id: 1 }).limit(limit).toArray())).map(toRecord)
  }

  async ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const filter = { ...this.#live(), ...(after !== null && { _id: { $gt: after } }) }
    return (await guarded(this.#of(kind).find(filter).sort({ _id: 1 }).limit(limit).toArray())).map(toRecord)
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
    if (limit === undefined) return (await guarded(this.#of(kind).deleteMany(gone))).deletedCount
    return this.#removeSome(kind, gone, { limit, options: {} })
  }

  /** Resolves when all requested rows are written. */
  drain(): Promise<void> {
    this.#closed = true
    return this.#rows.drain()
  }

  async #removeSome(
    kind: RecordKind,
    filter: Filter<RecordDocument>,
    { limit, options }: { readonly limit: number; readonly options: Partial<typeof durable> },
  ): Promise<number> {
    const ids = await guarded(
      this.#of(kind)
        .find(filter, { projection: { _id: 1 }, limit })
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

  #live(): Filter<RecordDocument> {
    return { expires_at: { $not: { $lte: this.#now() } } }
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

const inScope = ({ project, tenant, user, among }: Scope): Filter<RecordDocument> => ({
  project,
  ...(tenant === null ? {} : { tenant }),
  ...(user === null ? {} : { user }),
  ...(among !== undefined && { $and: [{ tenant: { $in: [...among.tenants, ...(among.untenanted ? [null] : [])] } }] }),
})

const keyed = (kind: RecordKind, key: JsonObject, onlyGlobal: boolean): Filter<RecordDocument> =>
  Object.fromEntries(
    uniqueKeyFor(kind, key, onlyGlobal).fields.map((field) => [`keys.${field}`, fieldText(key, field)]),
  )

/**
 * The index that a list needs, as a hint: MongoDB would keep the plan that it chose for one caller, for others with
 * differently distributed rows.
 */
const hinted = (kind: RecordKind, scope: Scope, where: Where): { readonly hint?: string } => {
  const index = listIndexFor(kind, scope, where)
  return index === null ? {} : { hint: index.name }
}

const filtered = (kind: RecordKind, where: Where): Filter<RecordDocument> =>
  Object.fromEntries(conditions(kind, where).map(([field, text]) => [`keys.${field}`, text]))
