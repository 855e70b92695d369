import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/*
 * Holds our client of remote tool servers to the official conformance suite: every client scenario that a revision requires,
 * as frozen at its release. One after the other on two lanes: all at once, as the suite runs them, they wait for the machine.
 */

const revisions = ['2025-11-25', '2026-07-28']
const lanes = 2
const timeoutMs = 60_000

const suite = join(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'),
  '../dist/index.js',
)
const client = join(import.meta.dirname, 'client.ts')
const kept = join(import.meta.dirname, '../../src/start/kept-sources.js')
const run = promisify(execFile)

/** What came of one scenario. */
interface Outcome {
  readonly revision: string
  readonly scenario: string
  readonly passed: boolean
  readonly said: string
}

const required = async (revision: string): Promise<readonly string[]> => {
  const { stdout } = await run(process.execPath, [suite, 'list', '--client', '--requirements', revision])
  const [scored = ''] = stdout.slice(stdout.indexOf('Client scenarios')).split('Run and reported')
  return [...scored.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name)
}

const outcomeOf = async (revision: string, scenario: string, folder: string): Promise<Outcome> => {
  const command = `${process.execPath} --disable-warning=ExperimentalWarning --import ${kept} ${client}`
  const which = ['--scenario', scenario, '--spec-version', revision]
  const args = [suite, 'client', '--command', command, ...which, '--timeout', String(timeoutMs), '--output-dir', folder]
  try {
    await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
    return { revision, scenario, passed: true, said: '' }
  } catch (error) {
    const { stdout, stderr } = Object(error)
    return { revision, scenario, passed: false, said: `${stdout}\n${stderr}` }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
const waiting: Pick<Outcome, 'revision' | 'scenario'>[] = []
for (const revision of revisions) for (const scenario of await required(revision)) waiting.push({ revision, scenario })

const outcomes: Outcome[] = []
const lane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    outcomes.push(await outcomeOf(next.revision, next.scenario, folder))
}
await Promise.all(Array.from({ length: lanes }, lane))
rmSync(folder, { recursive: true, force: true })

for (const { revision, scenario, passed, said } of outcomes)
  if (!passed) console.log(`FAILED ${revision} ${scenario}\n${said.split('\n').slice(-40).join('\n')}`)
for (const revision of revisions) {
  const all = outcomes.filter((each) => each.revision === revision)
  console.log(`${revision}: ${all.filter(({ passed }) => passed).length} of ${all.length} required client scenarios`)
}
if (outcomes.length === 0 || outcomes.some(({ passed }) => !passed)) process.exitCode = 1
