import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BackupError } from '#actors/backup/backup-error.ts'
import { type Config, readConfig } from '#src/config.ts'
import { databaseOf, sqlitePath } from '#src/open-storage.ts'
import { makeFolder } from '#storage/data-folder.ts'
import { fileFailure } from './file-failure.ts'

const mongoAdvice = (url: string): string =>
  [
    'This installation keeps its data in MongoDB. Back it up with the tools of MongoDB, while the servers run:',
    `  mongodump --uri "$MONGODB_URL" --db ${databaseOf(url)} --gzip --archive=troupe.archive`,
    'or by a snapshot of its disks. Keep MASTER_KEY (or master.key in DATA_DIR) with it: without it, keys and secrets are lost.',
  ].join('\n')

/**
 * Copies the SQLite store, in one read transaction, and its master key into `folder`; the server may be running. The
 * folder appears complete or not at all, readable by its owner only, and after the copy has been checked.
 *
 * @returns lines for the operator.
 * @throws {BackupError} when there is no such store, or the folder exists.
 */
export const backUp = async (folder: string, config: Config = readConfig(process.env)): Promise<readonly string[]> => {
  if (config.mongodbUrl !== null) throw new BackupError(mongoAdvice(config.mongodbUrl))
  const from = resolve(sqlitePath(config))
  if (!existsSync(from)) throw new BackupError(`There is no store at ${from}. Set DATA_DIR as the server has it.`)
  if (existsSync(folder)) throw new BackupError(`${folder} already exists. Choose another folder.`)
  const draft = `${folder}.part`
  try {
    rmSync(draft, { recursive: true, force: true })
    await makeFolder(resolve(draft))
    copyStore(from, join(draft, 'troupe.db'))
    const keyNote = copyKey(config, draft)
    renameSync(draft, folder)
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    return [`${from} is copied to ${resolve(folder)} and read back (${(bytes / 1e6).toFixed(1)} MB).`, keyNote]
  } catch (error) {
    // nothing was created when a part of the path is a file
    if (existsSync(draft)) rmSync(draft, { recursive: true, force: true })
    throw fileFailure(folder, error)
  }
}

/** `vacuum into` reads a consistent state of the store while the server writes, and blocks no writer. */
const copyStore = (from: string, to: string): void => {
  const source = new DatabaseSync(from, { readOnly: true, timeout: 10_000 })
  try {
    source.prepare('vacuum into ?').run(to)
  } finally {
    source.close()
  }
  chmodSync(to, 0o600)
  const copy = new DatabaseSync(to, { readOnly: true })
  try {
    const found = copy.prepare('pragma quick_check').get()
    if (found?.quick_check !== 'ok') throw new BackupError(`The copy does not read back: ${String(found?.quick_check)}`)
  } finally {
    copy.close()
  }
}

const copyKey = ({ dataDir }: Config, folder: string): string => {
  const key = join(dataDir, 'master.key')
  if (!existsSync(key)) return 'Keep MASTER_KEY with it: without it, keys and secrets are lost.'
  copyFileSync(key, join(folder, 'master.key'))
  chmodSync(join(folder, 'master.key'), 0o600)
  const previous = `${key}.previous`
  if (existsSync(previous)) copyFileSync(previous, join(folder, 'master.key.previous'))
  return 'The master key is in it: keep the copy as you keep the key.'
}
