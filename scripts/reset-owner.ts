import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { resetOwner } from '../src/actors/accounts/reset-owner.ts'
import { BackupError } from '../src/actors/backup/backup-error.ts'
import { fail, openInstallation } from './backup/installation.ts'

const usage = 'usage: npm run reset-owner -- --email ADDRESS'

/**
 * `npm run reset-owner -- --email ADDRESS`: sets a new password for an owner, prints it once, and ends the owner's
 * dashboard sessions. It requires access to the store and its master key. The server may keep running.
 */
const main = async (): Promise<void> => {
  const { email } = readCommandLine({ usage, options: { email: { type: 'string' } } as const })
  if (email === undefined) return refuseCommandLine(usage, '--email is required')
  const { storage, auth } = await openInstallation({ mayBeNew: false })
  try {
    const { records } = storage
    const { dashboardSessions } = auth
    const password = await resetOwner({ records, dashboardSessions, now: Date.now }, email)
    if (password === null) throw new BackupError(`No owner has the e-mail address ${email}.`)
    process.stdout.write(`${password}\n`)
  } finally {
    await storage.close()
  }
}

await main().catch(fail)
