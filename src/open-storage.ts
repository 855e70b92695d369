import { join, resolve } from 'node:path'
import type { Config } from './config.ts'
import type { Storage } from './storage/ports.ts'
import type { RedisLog, RedisServices } from './storage/redis/open-redis.ts'
import { openSqliteStorage } from './storage/sqlite/open-sqlite-storage.ts'
import { claimStore } from './storage/sqlite/store-claim.ts'

/** The file of the embedded store. */
export const sqlitePath = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'troupe.db')

/** The database that the URL names. A list of hosts is no URL for `URL`. */
export const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? 'troupe'

/**
 * The store that the configuration names: MongoDB, else SQLite in the data folder. The server and the operator's tools
 * open it here, and nowhere else is a store chosen. Only its own driver is loaded: they cost memory and time at a start.
 *
 * @throws {StoreUnavailable} when it cannot be reached.
 */
export const openStorage = async ({ mongodbUrl, dataDir }: Pick<Config, 'mongodbUrl' | 'dataDir'>): Promise<Storage> =>
  mongodbUrl === null
    ? openSqliteStorage({ path: sqlitePath({ dataDir }) })
    : (await import('./storage/mongo/open-mongo-storage.ts')).openMongoStorage({
        url: mongodbUrl,
        database: databaseOf(mongodbUrl),
      })

/**
 * As `openStorage`, for a process that no other one may be beside: one at a time runs the actors of an embedded store.
 * MongoDB says by itself who does. Closing the store gives it back, and so does the end of the process.
 *
 * @throws {StoreInUse} while another process has it.
 */
export const openStorageAlone = async (config: Pick<Config, 'mongodbUrl' | 'dataDir'>): Promise<Storage> => {
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
 * What nodes send each other over Redis; null for one process. Throws nothing when Redis is away.
 *
 * @param installation distinguishes this installation from others that share the Redis and the name of the database.
 */
export const openHints = async (
  { mongodbUrl, redisUrl }: Pick<Config, 'mongodbUrl' | 'redisUrl'>,
  installation: string,
  log: RedisLog,
): Promise<RedisServices | null> =>
  mongodbUrl === null || redisUrl === null
    ? null
    : (await import('./storage/redis/open-redis.ts')).openRedis({
        url: redisUrl,
        installation: `${databaseOf(mongodbUrl)}.${installation}`,
        log,
      })

/** Loads the drivers that a start loads by its configuration, so that V8's code of them is kept (src/start/warm-code.ts). */
export const loadDrivers = (): Promise<unknown> =>
  Promise.all([import('./storage/mongo/open-mongo-storage.ts'), import('./storage/redis/open-redis.ts')])
