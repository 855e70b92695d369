import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { installations, pepperOf, WrongMasterKey } from '#actors/accounts/bootstrap.ts'
import { findServerKeys, lastingKeys } from '#actors/accounts/lasting-keys.ts'
import { kinds } from '#actors/capabilities.ts'
import { countSealed, type SealedCount } from '#records/sealing/sealed-anew.ts'
import type { Config } from '#src/config.ts'
import { masterKeyFile, masterKeysOf, type OpenedMasterKeys, previousKeyFile } from '#src/master-keys.ts'
import { sqlitePath } from '#src/open-storage.ts'
import type { Storage } from '#storage/ports.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { withStore } from './data-checks.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'

/**
 * Checks that the master key exists, is readable by no other user, and is the one that the store was created with.
 * During a rotation, also reports whether the previous key can be removed.
 *
 * @param storeAnswers false when the store has failed to answer: it is then not waited for again.
 */
export const checkMasterKey = async (config: Config, storeAnswers: boolean): Promise<readonly Finding[]> => {
  const path = resolve(masterKeyFile(config))
  const isMade = config.masterKey !== null || existsSync(path)
  const stored = storeAnswers && (config.mongodbUrl !== null || existsSync(sqlitePath(config)))
  if (!isMade) {
    if (stored && (await isUsed(config)))
      return [failed('master key', `${path} is missing, but the store was created with it`, putBack)]
    return [warning('master key', `${path} will be created at the first start`, keepCopy)]
  }
  try {
    const masterKeys = masterKeysOf(config)
    const counts = stored ? await countOf(config, masterKeys) : undefined
    const found = ok('master key', config.masterKey === null ? `${path}, mode 600` : 'from MASTER_KEY')
    return counts === undefined ? [found] : [found, previousFinding(config, counts)]
  } catch (error) {
    if (error instanceof WrongMasterKey)
      return [failed('master key', 'the store was created with another key', putBack)]
    return [failed('master key', reasonOf(error), 'Correct it: the server does not start.')]
  }
}

const putBack =
  'Restore the old key in its file or as MASTER_KEY, or list it in MASTER_KEY_PREVIOUS: without it, keys and secrets are lost.'
const keepCopy = 'Then keep a copy of it: without it, keys and secrets are lost.'

const previousFinding = (config: Config, { earlier, unreadable }: SealedCount): Finding => {
  const where = existsSync(previousKeyFile(config)) ? resolve(previousKeyFile(config)) : 'MASTER_KEY_PREVIOUS'
  if (earlier > 0)
    return warning(
      'earlier key',
      `${earlier} secrets are still encrypted with it`,
      `Keep ${where}: a running server re-encrypts them.`,
    )
  const lost = unreadable === 0 ? '' : `; ${unreadable} cannot be decrypted with any key`
  return warning(
    'earlier key',
    `no secrets are encrypted with it any more${lost}`,
    `Remove ${where} and restart the servers.`,
  )
}

/** Counts the secrets that still need a previous key; undefined when none is configured. @throws {WrongMasterKey} */
const countOf = async (config: Config, masterKeys: OpenedMasterKeys): Promise<SealedCount | undefined> => {
  const box = openSecretBox(masterKeys)
  return attempted(config, async ({ records, name }) => {
    const changes = masterKeys.previous.length > 0
    if (name === 'sqlite') await records.prepare(changes ? kinds : [installations, lastingKeys])
    const { first } = await findServerKeys({ records, ...masterKeys, box })
    if (!changes) return undefined
    const counts = await countSealed({ records, kinds, box })
    // the next start creates the row of lasting keys, which needs the earlier key
    return first === null ? counts : { ...counts, earlier: counts.earlier + 1 }
  })
}

/** Whether a server has ever used the store. */
const isUsed = async (config: Config): Promise<boolean> =>
  (await attempted(config, async ({ name, records }) => {
    if (name === 'sqlite') await records.prepare([installations])
    return (await pepperOf(records)) !== null
  })) ?? false

/** Returns undefined when the store cannot be read, which other checks report. */
const attempted = async <T>(config: Config, work: (storage: Storage) => Promise<T>): Promise<T | undefined> => {
  try {
    return await withStore(config, work)
  } catch (error) {
    if (error instanceof WrongMasterKey) throw error
    return undefined
  }
}
