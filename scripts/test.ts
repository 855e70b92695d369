import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { resultLine, summarise } from './test/summary.ts'

/**
 * `npm test`: runs every test once with the real services that it needs (vitest.config.ts starts them) and ends with
 * one line `N passed, N failed`. Arguments go to vitest: `npm test -- test/storage`.
 */
const root = resolve(import.meta.dirname, '..')
const report = resolve(root, '.vitest/results.json')

mkdirSync(resolve(root, '.vitest'), { recursive: true })
rmSync(report, { force: true })

const run = spawnSync(
  process.execPath,
  [
    ...[
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' } },
)

const summary = summarise(readReport(), run.status)
for (const test of summary.retried) console.log(`RETRIED ${test}`)
for (const failure of summary.failures) console.log(`FAILED ${failure}`)
console.log(resultLine(summary))
process.exitCode = summary.failed > 0 ? 1 : 0

function readReport(): string | null {
  try {
    return readFileSync(report, 'utf8')
  } catch {
    return null
  }
}
