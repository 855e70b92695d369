import { join } from 'node:path'
import type { Config } from './config.ts'
import { openMongoStorage } from './storage/mongo/open-mongo-storage.ts'
import type { Storage } from './storage/ports.ts'
import { openSqliteStorage } from './storage/sqlite/open-sqlite-storage.ts'

/** The file of the embedded store. */
export const sqlitePath = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'troupe.db')

/** The database that the URL names. A list of hosts is no URL for `URL`. */
export const databaseOf = (url: string): string => /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? 'troupe'

/**
 * The store that the configuration names: MongoDB, else SQLite in the data folder. The server and the operator's tools
 * open it here, and nowhere else is a store chosen.
 *
 * @throws {StoreUnavailable} when it cannot be reached.
 */
export const openStorage = async ({ mongodbUrl, dataDir }: Pick<Config, 'mongodbUrl' | 'dataDir'>): Promise<Storage> =>
  mongodbUrl === null
    ? openSqliteStorage({ path: sqlitePath({ dataDir }) })
    : openMongoStorage({ url: mongodbUrl, database: databaseOf(mongodbUrl) })
