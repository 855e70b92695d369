import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { loadMasterKey } from './storage/secrets.ts'

/** The master keys of a process: one that seals and signs, and those that only open. */
export interface OpenedMasterKeys {
  readonly masterKey: Buffer
  readonly previous: readonly Buffer[]
}

/** Where the key is when no variable has it, and the one before it while that is needed. */
export const masterKeyFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'master.key')

/** The file that `npm run rotate-master-key` leaves. */
export const previousKeyFile = (config: Pick<Config, 'dataDir'>): string => `${masterKeyFile(config)}.previous`

/**
 * The master keys that the environment names; a first one is made where there is none.
 *
 * @throws {MasterKeyUnusable} for a file that others may read, or that holds anything else.
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
