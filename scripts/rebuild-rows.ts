import { readCommandLine } from '#src/start/command-line.ts'
import { actorRows, definitions } from '../src/actors/capabilities.ts'
import { systemClock } from '../src/actors/runtime/clock.ts'
import { type RebuildReport, rebuildRows } from '../src/actors/runtime/rows/rebuild-rows.ts'
import { usageLedger } from '../src/actors/usage/usage-ledger.ts'
import { fail, openInstallation } from './backup/installation.ts'

/** Maximum number of differences that are listed. */
const shown = 40

const usage = [
  'usage: npm run rebuild-rows [-- --check]',
  '',
  'Rebuilds the rows of lists and usage from the commits and prints the differences. The server may keep running.',
  '--check writes nothing, and exits with 1 if there is a difference.',
].join('\n')

/**
 * `npm run rebuild-rows [-- --check]`: rebuilds the rows of lists and of usage from the commits, and prints the
 * differences (specs/decisions/0004-projections.md). `--check` writes nothing, and exits with 1 if there is a
 * difference. The server may keep running.
 */
const main = async (): Promise<void> => {
  const { check: checkOnly = false } = readCommandLine({ usage, options: { check: { type: 'boolean' } } })
  const { storage } = await openInstallation({ mayBeNew: false })
  try {
    const parts = { storage, definitions, rows: actorRows, ledger: usageLedger, clock: systemClock, checkOnly }
    const report = await rebuildRows(parts)
    process.stdout.write(`${linesOf(report, checkOnly).join('\n')}\n`)
    if (checkOnly && report.differences.length > 0) process.exitCode = 1
  } finally {
    await storage.close()
  }
}

const linesOf = (report: RebuildReport, checkOnly: boolean): readonly string[] => {
  const { actors, commits, compared, differences, unreadable } = report
  return [
    ...differences.slice(0, shown).map(({ kind, id, what }) => `${kind} ${id}: ${what.replace('_', ' ')}`),
    ...(differences.length > shown ? [`… and ${differences.length - shown} more`] : []),
    ...unreadable.slice(0, shown).map((actor) => `${actor} cannot be restored: its row was not changed`),
    `${actors} actors, ${commits} commits; ${compared} rows compared, ${differences.length} differed` +
      `${checkOnly || differences.length === 0 ? '' : ' and were written'}`,
  ]
}

await main().catch(fail)
