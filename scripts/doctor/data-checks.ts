import { accessSync, constants, existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '#src/config.ts'
import { openStorage, sqlitePath } from '#src/open-storage.ts'
import type { Storage } from '#storage/ports.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'

const lowBytes = 1024 ** 3

/** Checks that the data folder is writable or can be created, and that it has 1 GB left. */
export const checkDataFolder = ({ dataDir }: Pick<Config, 'dataDir'>): Finding => {
  const folder = resolve(dataDir)
  try {
    tryFolder(nearest(folder), existsSync(folder))
  } catch (error) {
    return failed(
      'data folder',
      `${folder} is not writable: ${reasonOf(error)}`,
      'Make it writable for the server’s user, or set DATA_DIR.',
    )
  }
  const { bavail, bsize } = statfsSync(nearest(folder))
  const free = bavail * bsize
  const left = `${(free / 1024 ** 3).toFixed(1)} GB left`
  if (free < lowBytes) {
    return warning(
      'data folder',
      `${folder} has ${left}`,
      'Free disk space: when it runs out, writes are no longer acknowledged.',
    )
  }
  return ok(
    'data folder',
    `${folder} ${existsSync(folder) ? 'is writable' : 'will be created at the first start'}, with ${left}`,
  )
}

/**
 * Checks that a folder is writable. In a folder above the data folder no file is created, since it may belong to
 * others.
 */
const tryFolder = (folder: string, isOurs: boolean): void => {
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  accessSync(folder, constants.W_OK)
  if (!isOurs) return
  const probe = join(folder, `.doctor-${process.pid}`)
  writeFileSync(probe, '')
  rmSync(probe)
}

const nearest = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))

/** Checks that the embedded store can be opened. A missing store is not created. */
export const checkSqlite = async (config: Pick<Config, 'dataDir'>): Promise<Finding> => {
  const path = resolve(sqlitePath(config))
  if (!existsSync(path)) return ok('sqlite', `${path} will be created at the first start`)
  try {
    await withStore({ ...config, mongodbUrl: null }, (storage) => storage.ping())
    return ok('sqlite', `${path} opens`)
  } catch (error) {
    return failed(
      'sqlite',
      `${path} cannot be opened: ${reasonOf(error)}`,
      'It may be an incomplete copy. Restore a backup.',
    )
  }
}

/** Opens the store for a check. @throws {StoreUnavailable} */
export const withStore = async <T>(
  config: Pick<Config, 'mongodbUrl' | 'dataDir'>,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  const storage = await openStorage(config)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}
