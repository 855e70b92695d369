import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { organizations } from '../src/actors/accounts/kinds.ts'
import { BackupError } from '../src/actors/backup/backup-error.ts'
import { creditsOf, grantCredits, ungateCredits } from '../src/gateway/limits/grant-credits.ts'
import { organizationScope } from '../src/storage/scope.ts'
import { fail, openInstallation } from './backup/installation.ts'

const usage = 'usage: npm run credits -- --organization ID [--grant USD | --ungate]'

/**
 * `npm run credits -- --organization ID [--grant USD | --ungate]`: shows an organisation's remaining credits, grants it
 * more, or lifts the requirement of credits (specs/decisions/0086-metering-and-limits.md). The server may keep running.
 */
const main = async (): Promise<void> => {
  const options = { organization: { type: 'string' }, grant: { type: 'string' }, ungate: { type: 'boolean' } } as const
  const { organization, grant, ungate = false } = readCommandLine({ usage, options })
  if (organization === undefined) return refuseCommandLine(usage, '--organization is required')
  if (grant !== undefined && ungate) return refuseCommandLine(usage, '--grant and --ungate exclude each other')
  if (grant !== undefined && !/^\d{1,9}(\.\d{1,18})?$/.test(grant))
    return refuseCommandLine(usage, '--grant must be an amount in USD, such as 25.50')
  const { storage } = await openInstallation({ mayBeNew: false })
  try {
    const { records } = storage
    const known = await records.get(organizations, organizationScope(organization), organization)
    if (known === null) throw new BackupError(`There is no organisation ${organization} in this store.`)
    if (grant !== undefined) await grantCredits(records, Date.now, { organization, usd: grant })
    if (ungate) await ungateCredits(records, organization)
    const account = await creditsOf(records, Date.now, organization)
    process.stdout.write(`${account === null ? 'calls require no credits' : shown(account)}\n`)
  } finally {
    await storage.close()
  }
}

const shown = ({ granted, spent, balance }: NonNullable<Awaited<ReturnType<typeof creditsOf>>>): string =>
  `granted ${granted} USD, spent ${spent} USD, left ${balance} USD`

await main().catch(fail)
