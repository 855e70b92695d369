import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { loadMasterKey } from './storage/index.ts'

/** The master keys of a process: the current one, and previous ones that only decrypt. */
export interface OpenedMasterKeys {
  readonly masterKey: Buffer
  readonly previous: readonly Buffer[]
}

/** Path of the key file that is used when no variable holds the key. */
export const masterKeyFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'master.key')

/** Path of the previous key, which `npm run rotate-master-key` leaves. */
export const previousKeyFile = (config: Pick<Config, 'dataDir'>): string => `${masterKeyFile(config)}.previous`

/**
 * Returns the master keys named by the environment; creates the first one if there is none.
 *
 * @throws {MasterKeyUnusable} for a file that others may read, or with invalid contents.
 */
export const masterKeysOf = (
  config: Pick<Config, 'dataDir' | 'masterKey' | 'previousMasterKeys'>,
): OpenedMasterKeys => {
  const file = previousKeyFile(config)
  const kept = existsSync(file) ? [loadMasterKey(file)] : []
  return {
    masterKey: config.masterKey ?? loadMasterKey(masterKeyFile(config)),
    previous: [...config.previousMasterKeys, ...kept],
  }
}
