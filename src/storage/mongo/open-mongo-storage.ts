import { type Db, MongoClient } from 'mongodb'
import { checkStoreVersion, storeVersion } from '../newer-store.ts'
import type { Storage } from '../ports.ts'
import { MongoBlobs } from './blobs.ts'
import { MongoCommits } from './commits.ts'
import { MongoLeases } from './leases.ts'
import { MongoRecords } from './records.ts'
import { whilePreparing } from './schema.ts'
import { asPortError, guarded } from './trouble.ts'

/**
 * The store for production: any MongoDB from 4.4, alone or a replica set. Commits, blobs, records and rows are
 * acknowledged by a majority with its journal, and only then count as written.
 *
 * @param options.url `mongodb://…`; what it says of write concern does not hold here.
 * @param options.now ms since the epoch; decides which records have expired.
 * @param options.patienceMs how long each wait for the server may take; left out, as short as requests need it.
 * @throws {NewerStore} {StoreUnavailable} when the server cannot be reached within ten seconds, or within `patienceMs`.
 */
export const openMongoStorage = async ({
  url,
  database,
  now = Date.now,
  patienceMs,
}: {
  readonly url: string
  readonly database: string
  readonly now?: () => number
  readonly patienceMs?: number
}): Promise<Storage> => {
  const client = new MongoClient(url, {
    // a request makes two waits of it before it is refused, which has to be within a second
    serverSelectionTimeoutMS: patienceMs ?? 400,
    connectTimeoutMS: patienceMs ?? 1_000,
    waitQueueTimeoutMS: patienceMs ?? 1_000,
    // A server that hangs: a caller that waits gets StoreUnavailable or `unknown`; longer than a slow disk takes to sync.
    socketTimeoutMS: patienceMs ?? 3_000,
    maxPoolSize: 20,
    appName: 'troupe',
  })
  const db = client.db(database)
  const commits = new MongoCommits(db)
  const records = new MongoRecords(db, now)
  try {
    await connect(client, patienceMs ?? connectMs)
    await markVersion(db)
    await commits.prepare()
  } catch (error) {
    await client.close()
    throw error
  }
  return {
    name: 'mongo',
    commits,
    records,
    blobs: new MongoBlobs(db),
    leases: new MongoLeases(db),
    ping: async () => void (await guarded(db.command({ ping: 1 }))),
    close: async () => {
      await Promise.all([commits.drain(), records.drain()])
      await client.close()
    },
  }
}

/** Held beside what is known of the kinds of records, whose names begin with a letter. @throws {NewerStore} */
const markVersion = async (db: Db): Promise<void> => {
  const kinds = db.collection<{ readonly _id: string; readonly version: number }>('kinds', whilePreparing)
  const { version } = (await guarded(kinds.findOne({ _id: '$store' }))) ?? { version: 0 }
  checkStoreVersion(`The database ${db.databaseName}`, version)
  if (version < storeVersion)
    await guarded(kinds.updateOne({ _id: '$store' }, { $max: { version: storeVersion } }, { upsert: true }))
}

/** At a start no request waits for an answer, and the server may be starting too. */
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
