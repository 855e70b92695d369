import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { seedOf } from '#test/setup/seed.ts'
import { commitNumber } from './services/commit-share.ts'
import { beginning } from './test/beginning.ts'
import {
  type CalledOperations,
  calledIn,
  mergedRecording,
  recordingFindings,
  recordingNotes,
  recordingPath,
  recordingText,
} from './test/called-operations.ts'
import { passedFilesOf, resultLine, summarise } from './test/summary.ts'

/**
 * `npm test`: runs every test once with the real services that it needs (vitest.config.ts starts them) and ends with
 * one line `N passed, N failed`. Arguments are passed to vitest: `npm test -- test/storage`.
 *
 * `--every-store` runs tests on both stores that otherwise run on one of them (test/e2e/world.ts). A full run in CI without
 * it leaves some files to the night (test/setup/left-to-the-night.ts).
 *
 * A full run in CI also compares specs/called-operations.json with the operations that were called; `npm run
 * record-calls -- <path>` runs tests and records there what they called, for specs/coverage.md.
 */
const usage = [
  'usage: npm test [-- PART OF A PATH …] [--project pure|int|e2e|simulation] [--every-store] [OPTIONS OF VITEST]',
  '       npm run record-calls -- PART OF A PATH …',
  '',
  'Runs the tests whose paths contain one of the parts, or all of them, with the real services that they need.',
  '--every-store runs tests on both stores. Other options go to vitest.',
].join('\n')
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

const parts = process.argv.slice(2).filter((each) => !each.startsWith('-'))
// a commit has the same cases wherever it is tested, and those that follow have the others
const seed = String(seedOf(process.env.TEST_SEED ?? String(commitNumber())))
process.stdout.write(`${beginning(parts)}\nCases that a run draws: TEST_SEED=${seed} repeats them.\n`)

const root = resolve(import.meta.dirname, '..')
// of this run alone: a test starts this script while the run that it belongs to still writes its own
const reports = mkdtempSync(join(tmpdir(), 'troupe-tests-'))
process.on('exit', () => rmSync(reports, { recursive: true, force: true }))
const report = join(reports, 'results.json')
const calls = join(reports, 'called-operations.tsv')
const recording = resolve(root, recordingPath)
const records = process.argv.includes('--record')
const everyStore = process.argv.includes('--every-store')
const args = process.argv.slice(2).filter((each) => each !== '--record' && each !== '--every-store')

const whole = process.env.CI !== undefined && args.length === 0
/** Files that differ from the commit before, or from CI_BASE: of these none is left to the night. */
const changed = (): string =>
  spawnSync('git', ['diff', '--name-only', process.env.CI_BASE ?? 'HEAD~1'], { cwd: root, encoding: 'utf8' }).stdout
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const run = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    ...process.env,
    ...{ CALLED_OPERATIONS: calls, TEST_SEED: seed, NO_COLOR: '1', FORCE_COLOR: '0' },
    ...(everyStore ? { EVERY_STORE: '1' } : whole && { BY_DAY: '1', CHANGED: changed() }),
  },
})

const summary = summarise(read(report), run.status)
const kept: CalledOperations = JSON.parse(read(recording) ?? '{}')
const { operations } = await import('../src/actors/capabilities.ts')
const { sessionSocket } = await import('../specs/resources/sessions.ts')
const { realtimeSocket } = await import('../specs/resources/gateway/realtime.ts')
const called = calledIn(read(calls) ?? '', [...Object.keys(operations), sessionSocket.id, realtimeSocket.id])
const stale = whole ? recordingFindings(kept, called) : []
if (records) keepRecording()

const total = { ...summary, failed: summary.failed + stale.length, failures: [...summary.failures, ...stale] }
for (const test of total.retried) console.log(`RETRIED ${test}`)
for (const note of whole ? recordingNotes(kept, called) : []) console.log(`NOTE ${note}`)
for (const failure of total.failures) console.log(`FAILED ${failure}`)
console.log(resultLine(total))
process.exitCode = total.failed > 0 ? 1 : 0

function keepRecording(): void {
  const passed = passedFilesOf(read(report)).map((file) => relative(root, file))
  const exists = (file: string): boolean => existsSync(resolve(root, file))
  writeFileSync(recording, recordingText(mergedRecording(kept, called, { passed, exists })))
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
