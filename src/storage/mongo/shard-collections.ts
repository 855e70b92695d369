import { type Db, MongoClient, MongoServerError } from 'mongodb'
import type { RecordKind } from '../ports.ts'
import { guarded } from './errors.ts'
import { ownShardKeys, type ShardKey, shardKeyOf } from './sharding.ts'

/** What `shardCollections` found or made: a collection with its key, or without one if it stays whole. */
export interface ShardedCollection {
  readonly name: string
  readonly key: ShardKey | null
}

/** The cluster cannot be sharded as the store needs it; the message is for the operator. */
export class ShardingRefused extends Error {
  override readonly name = 'ShardingRefused'
}

/** Server code of a collection that is sharded by another key. */
const alreadyInitialized = 23

/**
 * Shards the collections of a prepared store, on a mongos. What is sharded stays as it is, so it may run again, also
 * while processes serve; stored documents need no change.
 *
 * @throws {ShardingRefused} {StoreUnavailable}
 */
export const shardCollections = async (
  { url, database }: { readonly url: string; readonly database: string },
  kinds: readonly RecordKind[],
): Promise<readonly ShardedCollection[]> => {
  const client = new MongoClient(url, { appName: 'troupe-prepare' })
  try {
    const db = client.db(database)
    if ((await guarded(db.admin().command({ hello: 1 }))).msg !== 'isdbgrid')
      throw new ShardingRefused('MONGODB_URL is not the address of a mongos, which a sharded cluster has.')
    await guarded(db.admin().command({ enableSharding: database }))
    const collections = [
      ...(await ownCollections(db)),
      ...kinds.map((kind) => ({ name: kind.name, key: shardKeyOf(kind) })),
    ]
    for (const { name, key } of collections) if (key !== null) await shard(db, name, key)
    return collections
  } finally {
    await client.close()
  }
}

/** Vectors exist only where the deployment searches them. */
const ownCollections = async (db: Db): Promise<readonly ShardedCollection[]> => {
  const names = (await guarded(db.listCollections({}, { nameOnly: true }).toArray())).map(({ name }) => name)
  return Object.entries(ownShardKeys).flatMap(([name, key]) =>
    name === 'vectors' && !names.includes(name) ? [] : [{ name, key }],
  )
}

const shard = async (db: Db, name: string, key: ShardKey): Promise<void> => {
  // of a ranged key, the store has an index anyway
  if (Object.values(key).includes('hashed')) await guarded(db.collection(name).createIndex(key))
  try {
    await guarded(db.admin().command({ shardCollection: `${db.databaseName}.${name}`, key }))
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error
    throw new ShardingRefused(`${name} is sharded by another key than ${JSON.stringify(key)}.`, { cause: error })
  }
}
