import { join, resolve } from 'node:path'
import type { Config } from './config.ts'
import type { Storage } from './storage/index.ts'
import type { RedisLog, RedisServices } from './storage/redis/open-redis.ts'
import { openSqliteStorage } from './storage/sqlite/open-sqlite-storage.ts'
import { claimStore } from './storage/sqlite/store-claim.ts'

/** The configuration of a store. */
export type StorageConfig = Pick<Config, 'mongodbUrl' | 'dataDir'> &
  Partial<Pick<Config, 'vectorSearchMinChunks' | 'lancedb'>> & {
    /** Timeout in ms of the connection to MongoDB; absent: ten seconds. */
    readonly startPatienceMs?: number
  }

/** Path of the embedded store. */
export const sqlitePath = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'troupe.db')

/** Name of the database in the URL; parsed here because `URL` does not accept a list of hosts. */
export const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? 'troupe'

/**
 * Opens the configured store: MongoDB, or SQLite in the data folder. The server and the operator's tools use this
 * function, the only place that chooses a store. Only the needed driver is loaded, since each costs memory and time at
 * start.
 *
 * @throws {StoreUnavailable} when the store cannot be reached.
 * @throws {VectorsUnusable} when LanceDB is configured and cannot be used.
 */
export const openStorage = async ({ lancedb = null, ...config }: StorageConfig): Promise<Storage> => {
  if (lancedb === null) return openDatabase(config)
  const { withLance } = await import('./storage/lance/open-lance.ts')
  const storage = await openDatabase({ ...config, vectorSearchMinChunks: 0 })
  try {
    return await withLance(storage, lancedb)
  } catch (error) {
    await storage.close()
    throw error
  }
}

const openDatabase = async ({
  mongodbUrl,
  dataDir,
  vectorSearchMinChunks = 0,
  startPatienceMs,
}: Omit<StorageConfig, 'lancedb'>): Promise<Storage> =>
  mongodbUrl === null
    ? openSqliteStorage({ path: sqlitePath({ dataDir }) })
    : (await import('./storage/mongo/open-mongo-storage.ts')).openMongoStorage({
        url: mongodbUrl,
        database: databaseOf(mongodbUrl),
        vectorSearchMinChunks,
        ...(startPatienceMs !== undefined && { startPatienceMs }),
      })

/**
 * Like `openStorage`, for a process that needs an embedded store for itself, since only one process may run its actors.
 * MongoDB coordinates processes itself. The claim ends when the store is closed or the process ends.
 *
 * @throws {StoreInUse} while another process holds it.
 */
export const openStorageAlone = async (config: StorageConfig): Promise<Storage> => {
  if (config.mongodbUrl !== null) return openStorage(config)
  const release = claimStore(resolve(sqlitePath(config)))
  const storage = await openStorage(config)
  const close = async (): Promise<void> => {
    await storage.close()
    release()
  }
  return { ...storage, close }
}

/**
 * Opens the services of nodes over Redis; null for a single process. Does not throw when Redis is unavailable.
 *
 * @param installation distinguishes this installation from others that share the Redis and the name of the database.
 */
export const openHints = async (
  { mongodbUrl, redisUrl, redisAccess }: Pick<Config, 'mongodbUrl' | 'redisUrl' | 'redisAccess'>,
  installation: string,
  log: RedisLog,
): Promise<RedisServices | null> =>
  mongodbUrl === null || redisUrl === null
    ? null
    : (await import('./storage/redis/open-redis.ts')).openRedis({
        ...{ url: redisUrl, access: redisAccess },
        installation: `${databaseOf(mongodbUrl)}.${installation}`,
        log,
      })

/**
 * Loads the drivers that a start loads depending on its configuration, so that V8's code cache includes them
 * (src/start/warm-code.ts).
 */
export const loadDrivers = (): Promise<unknown> =>
  Promise.all([import('./storage/mongo/open-mongo-storage.ts'), import('./storage/redis/open-redis.ts')])
