import { readCommandLine } from '#src/start/command-line.ts'
import { examine, reportOf } from './doctor/examination.ts'

/**
 * `npm run doctor`: checks the installation that the environment describes, and suggests fixes. It changes nothing
 * except a temporary probe. Exit code 1 when a check failed.
 */
readCommandLine({
  usage: 'usage: npm run doctor\n\nChecks the installation that the environment describes.',
  options: {},
})
const findings = await examine(process.env)
process.stdout.write(`${reportOf(findings).join('\n')}\n`)
process.exitCode = findings.some(({ status }) => status === 'failed') ? 1 : 0
