import { accessSync, constants, existsSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { apiPepperName } from '#actors/accounts/api-keys.ts'
import { installations, pepperOf } from '#actors/accounts/bootstrap.ts'
import type { Config } from '#src/config.ts'
import { openStorage, sqlitePath } from '#src/open-storage.ts'
import type { Storage } from '#storage/ports.ts'
import { loadMasterKey } from '#storage/secrets.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'

const lowBytes = 1024 ** 3

/** Whether the data folder can be written, or made. */
export const checkDataFolder = ({ dataDir }: Pick<Config, 'dataDir'>): Finding => {
  const folder = resolve(dataDir)
  try {
    tryFolder(nearest(folder), existsSync(folder))
  } catch (error) {
    return failed(
      'data folder',
      `${folder} cannot be written: ${reasonOf(error)}`,
      'Give it to the server’s user, or set DATA_DIR.',
    )
  }
  const { bavail, bsize } = statfsSync(nearest(folder))
  if (bavail * bsize < lowBytes) {
    return warning(
      'data folder',
      `${folder} has less than 1 GB left`,
      'Make room: without it no write is acknowledged.',
    )
  }
  return ok('data folder', existsSync(folder) ? `${folder} can be written` : `${folder} is made at the first start`)
}

/** A folder above ours gets no file: it may be of others. */
const tryFolder = (folder: string, isOurs: boolean): void => {
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is no folder`)
  accessSync(folder, constants.W_OK)
  if (!isOurs) return
  const probe = join(folder, `.doctor-${process.pid}`)
  writeFileSync(probe, '')
  rmSync(probe)
}

const nearest = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))

/** Whether the embedded store opens. It is not made. */
export const checkSqlite = async (config: Pick<Config, 'dataDir'>): Promise<Finding> => {
  const path = resolve(sqlitePath(config))
  if (!existsSync(path)) return ok('sqlite', `${path} is made at the first start`)
  try {
    await withStore({ ...config, mongodbUrl: null }, (storage) => storage.ping())
    return ok('sqlite', `${path} opens`)
  } catch (error) {
    return failed(
      'sqlite',
      `${path} does not open: ${reasonOf(error)}`,
      'Is it a copy that broke off? Take the last good one.',
    )
  }
}

/**
 * Whether the master key is there, is readable by no other user, and is the one that the store was made under.
 *
 * @param storeAnswers false when the store was seen not to answer: it is not waited for again.
 */
export const checkMasterKey = async (config: Config, storeAnswers: boolean): Promise<Finding> => {
  const path = resolve(config.dataDir, 'master.key')
  const made = storeAnswers ? await madeUnder(config) : null
  if (config.masterKey === null && !existsSync(path)) {
    if (made !== null) return failed('master key', `${path} is missing, and the store was made under it`, putBack)
    return warning(
      'master key',
      `${path} is made at the first start`,
      'Keep a copy of it then: without it keys and secrets are void.',
    )
  }
  try {
    const key = config.masterKey ?? loadMasterKey(path)
    if (made !== null && made !== apiPepperName(key))
      return failed('master key', 'the store was made under another one', putBack)
    return ok('master key', config.masterKey === null ? `${path}, mode 600` : 'from MASTER_KEY')
  } catch (error) {
    return failed('master key', reasonOf(error), 'Correct it: the server does not start.')
  }
}

const putBack = 'Put the old one back, in its file or as MASTER_KEY: under another, keys and secrets are void.'

/** Names the master key that the store was made under; null when it was never used, or cannot be read. */
const madeUnder = async (config: Config): Promise<string | null> => {
  if (config.mongodbUrl === null && !existsSync(sqlitePath(config))) return null
  try {
    return await withStore(config, async ({ name, records }) => {
      if (name === 'sqlite') await records.prepare([installations])
      return pepperOf(records)
    })
  } catch {
    return null
  }
}

const withStore = async <T>(
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
