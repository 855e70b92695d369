import { existsSync } from 'node:fs'
import { BackupError } from '#actors/backup/backup-error.ts'
import { readConfig } from '#src/config.ts'
import { masterKeyFile, previousKeyFile } from '#src/master-keys.ts'
import { readCommandLine } from '#src/start/command-line.ts'
import { replaceMasterKey } from '#storage/secrets.ts'
import { fail } from '../backup/installation.ts'

const byVariable = `The master key is set in MASTER_KEY. Set MASTER_KEY to a new key (openssl rand -base64 32) and MASTER_KEY_PREVIOUS
to the current key, and restart the servers (docs/operating.md, "Rotating the master key").`

/**
 * `npm run rotate-master-key`: writes a new master key to its file and keeps the previous one in a second file. The
 * next start of the server re-encrypts all secrets; `npm run doctor` reports when the previous key can be removed.
 */
const main = async (): Promise<void> => {
  readCommandLine({ usage: 'usage: npm run rotate-master-key', options: {} })
  const config = readConfig(process.env)
  const [file, previous] = [masterKeyFile(config), previousKeyFile(config)]
  if (config.masterKey !== null) throw new BackupError(byVariable)
  if (!existsSync(file))
    throw new BackupError(`There is no master key at ${file}: it will be created at the first start.`)
  if (existsSync(previous))
    throw new BackupError(
      `${previous} exists: the previous rotation has not been completed. npm run doctor reports when it can be removed.`,
    )
  replaceMasterKey(file, previous)
  process.stdout.write(
    `${file} contains a new key, and ${previous} the previous one. Restart the server: it re-encrypts all secrets under the new key.\n` +
      `npm run doctor reports when ${previous} can be removed.\n`,
  )
}

await main().catch(fail)
