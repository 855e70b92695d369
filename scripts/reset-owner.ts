import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { resetOwner } from '../src/actors/accounts/reset-owner.ts'
import { BackupError } from '../src/actors/backup/backup-error.ts'
import { fail, openInstallation } from './backup/installation.ts'

const usage = 'usage: npm run reset-owner -- --email ADDRESS [--second-factor]'

/**
 * `npm run reset-owner -- --email ADDRESS`: sets a new password for an owner, prints it once, and ends the owner's
 * dashboard sessions. With `--second-factor` it also removes the owner's second factor. It requires access to the store and its master key. The server may keep running.
 */
const main = async (): Promise<void> => {
  const options = { email: { type: 'string' }, 'second-factor': { type: 'boolean' } } as const
  const { email, 'second-factor': removesSecondFactor = false } = readCommandLine({ usage, options })
  if (email === undefined) return refuseCommandLine(usage, '--email is required')
  const { storage, auth } = await openInstallation({ mayBeNew: false })
  try {
    const { records } = storage
    const { dashboardSessions } = auth
    const deps = { records, dashboardSessions, now: Date.now }
    const password = await resetOwner(deps, email, { removesSecondFactor })
    if (password === null) throw new BackupError(`No owner has the e-mail address ${email}.`)
    process.stdout.write(`${password}\n`)
  } finally {
    await storage.close()
  }
}

await main().catch(fail)
