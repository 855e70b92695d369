import { existsSync } from 'node:fs'
import { inspect } from 'node:util'
import { openServerKeys } from '#actors/accounts/lasting-keys.ts'
import { type Auth, openAuth } from '#actors/accounts/open-auth.ts'
import { activeInstallations } from '#actors/agents/active-installations.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { BackupError } from '#actors/backup/backup-error.ts'
import type { Secrets } from '#actors/backup/file-secrets.ts'
import { kinds } from '#actors/capabilities.ts'
import { type Config, readConfig } from '#src/config.ts'
import { masterKeyFile, masterKeysOf } from '#src/master-keys.ts'
import { openStorage, openStorageAlone, sqlitePath } from '#src/open-storage.ts'
import { startFailure } from '#src/start-failure.ts'
import { openDataFolder } from '#storage/data-folder.ts'
import type { Storage } from '#storage/ports.ts'
import { openSecretBox } from '#storage/secrets.ts'

/** An installation's store, opened by one of the operator's tools without a server. */
export interface OpenInstallation {
  readonly config: Config
  readonly storage: Storage
  readonly auth: Auth
  readonly secrets: Secrets
}

/** Options for opening an installation. */
export interface InstallationUse {
  /** False: the installation must exist, and nothing is created. */
  readonly mayBeNew: boolean
  /** Requires that no server uses the store at the same time, as far as this can be detected: for a store in a file. */
  readonly alone?: boolean
}

/**
 * Opens the installation that the environment describes, as the server would.
 *
 * @throws {BackupError} when there is none.
 * @throws {StoreInUse} when `alone` is set and another process uses the store.
 */
export const openInstallation = async ({ mayBeNew, alone = false }: InstallationUse): Promise<OpenInstallation> => {
  const config = readConfig(process.env)
  const keyFile = masterKeyFile(config)
  if (!mayBeNew && config.mongodbUrl === null && !existsSync(sqlitePath(config))) {
    throw new BackupError(
      `There is no store at ${sqlitePath(config)}. Set DATA_DIR or MONGODB_URL as the server has it.`,
    )
  }
  if (!mayBeNew && config.masterKey === null && !existsSync(keyFile)) {
    throw new BackupError(`There is no master key: set MASTER_KEY, or put its file back to ${keyFile}.`)
  }
  if (mayBeNew && config.mongodbUrl === null) await openDataFolder(config.dataDir)
  const storage = await (alone ? openStorageAlone : openStorage)(config)
  await storage.records.prepare(kinds)
  const masterKeys = masterKeysOf(config)
  const box = openSecretBox(masterKeys)
  const keys = await openServerKeys({ records: storage.records, ...masterKeys, box })
  const auth = openAuth({
    records: storage.records,
    reachOfAgent: agentReaches({ records: storage.records, now: Date.now }),
    activeInstallations: activeInstallations({ records: storage.records, now: Date.now }),
    ...{ keys, box },
    now: Date.now,
  })
  const passphrase = process.env.BACKUP_PASSPHRASE?.trim() || null
  return { config, storage, auth, secrets: { box, pepper: auth.apiKeys.pepperName, passphrase } }
}

/** Prints why a tool stopped, without a stack trace when the operator can remove the reason. */
export const fail = (error: unknown): void => {
  process.stderr.write(`${sentenceOf(error) ?? inspect(error)}\n`)
  process.exitCode = 1
}

const sentenceOf = (error: unknown): string | null => {
  if (error instanceof BackupError) return error.message
  const { MONGODB_URL, DATA_DIR } = process.env
  return startFailure(error, { mongodbUrl: MONGODB_URL || null, dataDir: DATA_DIR || './data' }) ?? fileFailure(error)
}

/**
 * Message of an error about a file that the operator named, such as `ENOENT: no such file or directory`; null for
 * others.
 */
const fileFailure = (error: unknown): string | null =>
  error instanceof Error && 'syscall' in error ? error.message : null
