import { type Db, MongoClient } from 'mongodb'
import { checkStoreVersion, manyShardsVersion, storeVersion } from '../newer-store.ts'
import type { Storage } from '../ports.ts'
import { MongoBlobs } from './blobs.ts'
import { MongoCommits, prepareCommits } from './commits.ts'
import { failCutWrites } from './cut-writes.ts'
import { asPortError, guarded } from './errors.ts'
import { MongoLeases, prepareLeases } from './leases.ts'
import { MongoRecords } from './records.ts'
import { whilePreparing } from './schema.ts'
import { scattered } from './sharding.ts'
import { StartClient } from './start-client.ts'
import { MongoVectors } from './vectors.ts'

/**
 * The store for production: MongoDB 4.4 or later, standalone or a replica set. Writes of commits, blobs, records and
 * rows count as done once a majority has acknowledged them with its journal.
 *
 * @param options.url `mongodb://…`; its write concern is ignored.
 * @param options.now ms since the epoch; decides which records have expired.
 * @param options.patienceMs timeout in ms of each wait for the server; default: as short as requests need.
 * @param options.startPatienceMs timeout in ms of the connection; default: ten seconds.
 * @param options.vectorSearchMinChunks number of vectors from which a deployment with vector search is used for it; 0: never.
 * @throws {NewerStore} {StoreUnavailable} when the server cannot be reached within `startPatienceMs`, or `patienceMs`.
 */
export const openMongoStorage = async ({
  url,
  database,
  now = Date.now,
  patienceMs,
  startPatienceMs = connectMs,
  vectorSearchMinChunks = 0,
}: {
  readonly url: string
  readonly database: string
  readonly now?: () => number
  readonly patienceMs?: number
  readonly startPatienceMs?: number
  readonly vectorSearchMinChunks?: number
}): Promise<Storage> => {
  failCutWrites()
  const client = new MongoClient(url, {
    // a request may wait this long twice before it is refused, which has to happen within a second
    serverSelectionTimeoutMS: patienceMs ?? 400,
    connectTimeoutMS: patienceMs ?? 1_000,
    waitQueueTimeoutMS: patienceMs ?? 1_000,
    // for a server that hangs: the caller gets StoreUnavailable or `unknown`. Longer than a slow disk takes to sync
    socketTimeoutMS: patienceMs ?? 3_000,
    maxPoolSize: 20,
    appName: 'troupe',
  })
  const db = client.db(database)
  const starting = new StartClient(url, database, patienceMs)
  const commits = new MongoCommits(db, now)
  const records = new MongoRecords(db, now, starting)
  let vectors: MongoVectors | null = null
  let shards: number
  try {
    await connect(client, patienceMs ?? startPatienceMs)
    shards = await starting.run(async (preparing) => {
      await markVersion(preparing)
      await prepareCommits(preparing)
      await prepareLeases(preparing)
      return shardsOf(preparing)
    })
    if (vectorSearchMinChunks > 0) vectors = await MongoVectors.open(db, vectorSearchMinChunks)
  } catch (error) {
    await Promise.all([client.close(), starting.close()])
    throw error
  }
  return {
    name: 'mongo',
    commits,
    records,
    blobs: new MongoBlobs(db),
    leases: new MongoLeases(db),
    shards,
    vectors,
    ping: async () => void (await guarded(db.command({ ping: 1 }))),
    purge: async () => 'reused_later',
    close: async () => {
      await Promise.all([commits.drain(), records.drain()])
      await Promise.all([client.close(), starting.close()])
    },
  }
}

/**
 * Checks and records the store's version, in the collection of record kinds, whose names start with a letter.
 *
 * @throws {NewerStore}
 */
const markVersion = async (db: Db): Promise<void> => {
  const kinds = db.collection<{ readonly _id: string; readonly version: number }>('kinds', whilePreparing)
  const { version } = (await guarded(kinds.findOne({ _id: '$store' }))) ?? { version: 0 }
  checkStoreVersion(`The database ${db.databaseName}`, version, manyShardsVersion)
  if (version < storeVersion)
    await guarded(kinds.updateOne({ _id: '$store' }, { $max: { version: storeVersion } }, { upsert: true }))
}

/** Number of shards of a new database, and of one in which a release wrote actors that knew no other number. */
const newShards = 1024
const earlierShards = 256

/** Returns the number of shards, which the first start of this release on the database fixes for good. */
const shardsOf = async (db: Db): Promise<number> => {
  const kinds = db.collection<{ readonly _id: string; readonly shards: number }>('kinds', whilePreparing)
  const known = await guarded(kinds.findOne({ _id: '$shards' }))
  if (known !== null) return known.shards
  const used = await Promise.all(
    ['commits', 'leases'].map((name) =>
      guarded(db.collection(name, whilePreparing).findOne({}, { projection: { _id: 1 }, ...scattered('start') })),
    ),
  )
  const shards = used.every((found) => found === null) ? newShards : earlierShards
  await guarded(kinds.updateOne({ _id: '$shards' }, { $setOnInsert: { shards } }, { upsert: true }))
  const fixed = (await guarded(kinds.findOne({ _id: '$shards' })))?.shards ?? shards
  if (fixed > earlierShards) {
    const mark = db.collection<{ readonly _id: string; readonly version: number }>('kinds', whilePreparing)
    await guarded(mark.updateOne({ _id: '$store' }, { $max: { version: manyShardsVersion } }))
  }
  return fixed
}

/** Timeout in ms of the connection at start: no request waits yet, and the server may be starting too. */
const connectMs = 10_000

const connect = async (client: MongoClient, forMs: number): Promise<void> => {
  for (const startedAt = performance.now(); ; ) {
    try {
      await client.connect()
      return
    } catch (error) {
      if (performance.now() - startedAt >= forMs) throw asPortError(error)
    }
  }
}
