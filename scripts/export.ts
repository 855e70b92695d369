import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { pino } from 'pino'
import { readCommandLine, refuseCommandLine } from '#src/start/command-line.ts'
import { BackupError } from '../src/actors/backup/backup-error.ts'
import { type ExportReport, exportProject } from '../src/actors/backup/export-project.ts'
import { kinds } from '../src/actors/capabilities.ts'
import { systemClock } from '../src/actors/runtime/clock.ts'
import { SegmentExpander } from '../src/gateway/ledger/segment-expander.ts'
import { fileFailure } from './backup/file-failure.ts'
import { fail, openInstallation } from './backup/installation.ts'
import { contentsOf } from './backup/summary.ts'

const usage =
  'usage: npm run export -- --project ID --out FILE\n\nWrites one project into a file. Stop the server first.'

/**
 * `npm run export -- --project ID --out FILE`: writes one project of the configured store into a file.
 *
 * The file appears atomically, with mode 600, since it holds conversations in plain text. BACKUP_PASSPHRASE encrypts
 * its secrets so that an installation with another master key can decrypt them (specs/decisions/0060-backup.md).
 */
const main = async (): Promise<void> => {
  const options = { project: { type: 'string' }, out: { type: 'string' } } as const
  const { project, out } = readCommandLine({ usage, options })
  if (project === undefined || !out) return refuseCommandLine(usage, '--project and --out are required')
  if (existsSync(out)) throw new BackupError(`${out} already exists. Choose another file.`)
  const installation = await openInstallation({ mayBeNew: false, alone: true })
  try {
    const { storage, secrets } = installation
    // includes calls of a server that was killed, which are not rows yet
    const log = pino({ level: 'silent' })
    const { records } = storage
    await new SegmentExpander({ records, clock: systemClock, log, lastCallAt: () => 0 }).all()
    const report = await toFile(out, (write) =>
      exportProject({ storage, kinds, project, secrets, now: Date.now }, write),
    )
    say(`${project} is in ${out}: ${contentsOf(report.inventory)}`)
    if (secrets.passphrase === null)
      say('Its secrets can be decrypted only with the same MASTER_KEY. Otherwise, set BACKUP_PASSPHRASE.')
    for (const each of report.missing) say(`not exported: ${each}`)
  } finally {
    await installation.storage.close()
  }
}

const bufferChars = 1 << 20

/** Writes to a temporary file and renames it at the end. */
const toFile = async (
  path: string,
  work: (write: (text: string) => Promise<void>) => Promise<ExportReport>,
): Promise<ExportReport> => {
  const draft = `${path}.part`
  const failed = (error: unknown): never => {
    throw fileFailure(path, error)
  }
  const file = await open(draft, 'w', 0o600).catch(failed)
  let waiting = ''
  const flush = async (): Promise<void> => {
    const text = waiting
    waiting = ''
    await file.writeFile(text)
  }
  try {
    const report = await work(async (text) => {
      waiting += text
      if (waiting.length > bufferChars) await flush()
    })
    await flush()
    await file.sync()
    await file.close()
    await rename(draft, path)
    return report
  } catch (error) {
    await file.close().catch(() => {})
    await rm(draft, { force: true })
    return failed(error)
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

await main().catch(fail)
