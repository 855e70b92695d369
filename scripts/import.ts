import { createReadStream, existsSync } from 'node:fs'
import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { bootstrap, type Installation } from '../src/actors/accounts/bootstrap.ts'
import { BackupError } from '../src/actors/backup/backup-error.ts'
import { importProject } from '../src/actors/backup/import-project.ts'
import { kinds } from '../src/actors/capabilities.ts'
import { fail, type OpenInstallation, openInstallation } from './backup/installation.ts'
import { contentsOf } from './backup/summary.ts'

const usage =
  'usage: npm run import -- --in FILE\n\nWrites the project of an export into a store. Stop its server first.'

/**
 * `npm run import -- --in FILE`: writes the project of an export into the configured store.
 *
 * Stop the server of that store first. After an interruption, run it again. In a store that no server has used yet, the
 * project becomes the first one, and the owner's password is printed as at a first start.
 */
const main = async (): Promise<void> => {
  const path = readCommandLine({ usage, options: { in: { type: 'string' } } }).in
  if (path === undefined) return refuseCommandLine(usage, '--in is required')
  if (!existsSync(path)) throw new BackupError(`There is no file ${path}.`)
  const installation = await openInstallation({ mayBeNew: true, alone: true })
  const { storage, secrets } = installation
  try {
    const organization = async (project: string) => (await install(installation, project)).organization
    const open = () => createReadStream(path)
    const report = await importProject({ storage, kinds, open, secrets, organization, now: Date.now })
    if (report.before) return say(`${report.project} has already been imported from this file; nothing was changed.`)
    say(`${report.project} is imported, verified and complete: ${contentsOf(report.inventory)}`)
    for (const each of report.missing) say(`not imported: ${each}`)
  } finally {
    await storage.close()
  }
}

const install = ({ storage, auth, config }: OpenInstallation, adopts: string): Promise<Installation> =>
  bootstrap({
    records: storage.records,
    apiKeys: auth.apiKeys,
    projects: auth.projects,
    given: config.bootstrap,
    adopts,
    show: announce,
    now: Date.now,
  })

const announce = ({ generated, ownerEmail }: Installation): void => {
  if (generated === null) return
  say('This store is new. Its first member, shown once:')
  say(`  dashboard owner  ${ownerEmail}`)
  if (generated.ownerPassword !== null) say(`  owner password   ${generated.ownerPassword}`)
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

await main().catch(fail)
