import { BackupError } from '#actors/backup/backup-error.ts'
import { kinds } from '#actors/capabilities.ts'
import { readConfig } from '#src/config.ts'
import { databaseOf, openStorageAlone } from '#src/open-storage.ts'
import { readCommandLine } from '#src/start/command-line.ts'
import { openDataFolder } from '#storage/data-folder.ts'
import { fail } from '../backup/installation.ts'

const usage = [
  // npm runs a script of the name `prepare` by itself, with each install
  `usage: ${process.env.TROUPE_COMMAND === undefined ? 'npm run prepare-store [-- --sharded]' : 'troupe prepare [--sharded]'}`,
  '',
  'Creates the collections and indexes of the store, as a start does.',
  '--sharded distributes them over the shards of a MongoDB cluster, whose mongos MONGODB_URL names. It may run again.',
].join('\n')

/**
 * `troupe prepare [--sharded]`: creates the collections and indexes of the store; `--sharded` shards the collections of
 * a MongoDB cluster (specs/decisions/0040-storage.md). Servers may keep running.
 */
const main = async (): Promise<void> => {
  const { sharded = false } = readCommandLine({ usage, options: { sharded: { type: 'boolean' } } })
  const config = readConfig(process.env)
  const { mongodbUrl: url } = config
  if (sharded && url === null) throw new BackupError('--sharded is for MongoDB: set MONGODB_URL to a mongos.')
  if (url === null) await openDataFolder(config.dataDir)
  const storage = await openStorageAlone(config)
  try {
    await storage.records.prepare(kinds)
  } finally {
    await storage.close()
  }
  if (!sharded || url === null) return void process.stdout.write(`${kinds.length} kinds of records are prepared\n`)
  const { shardCollections, ShardingRefused } = await import('#storage/mongo/shard-collections.ts')
  const sharding = shardCollections({ url, database: databaseOf(url) }, kinds).catch((error: unknown) => {
    throw error instanceof ShardingRefused ? new BackupError(error.message) : error
  })
  for (const { name, key } of await sharding)
    process.stdout.write(`${name}: ${key === null ? 'whole, on one shard' : JSON.stringify(key)}\n`)
}

await main().catch(fail)
