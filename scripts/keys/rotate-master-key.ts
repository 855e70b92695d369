import { existsSync } from 'node:fs'
import { BackupError } from '#actors/backup/backup-error.ts'
import { readConfig } from '#src/config.ts'
import { masterKeyFile, previousKeyFile } from '#src/master-keys.ts'
import { replaceMasterKey } from '#storage/secrets.ts'
import { fail } from '../backup/installation.ts'
import { readCommandLine } from '../command-line.ts'

const byVariable = `The master key comes from MASTER_KEY. Set MASTER_KEY to a new one (openssl rand -base64 32) and MASTER_KEY_PREVIOUS
to the one of now, and start the servers anew (docs/operating.md, "Another master key").`

/**
 * `npm run rotate-master-key`: puts a new master key into its file and keeps the one before beside it. The next start of the
 * server seals everything anew; `npm run doctor` says when the earlier key can be removed.
 */
const main = async (): Promise<void> => {
  readCommandLine({ usage: 'usage: npm run rotate-master-key', options: {} })
  const config = readConfig(process.env)
  const [file, previous] = [masterKeyFile(config), previousKeyFile(config)]
  if (config.masterKey !== null) throw new BackupError(byVariable)
  if (!existsSync(file)) throw new BackupError(`There is no master key at ${file}: the first start makes one.`)
  if (existsSync(previous))
    throw new BackupError(
      `${previous} is there: the last change is not over. npm run doctor says when it can be removed.`,
    )
  replaceMasterKey(file, previous)
  process.stdout.write(
    `${file} holds a new key, and ${previous} the one before. Start the server anew: it seals everything under the new key.\n` +
      `npm run doctor says when ${previous} can be removed.\n`,
  )
}

await main().catch(fail)
