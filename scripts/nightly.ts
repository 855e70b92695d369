import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { readArguments, refuseCommandLine } from '#src/start/command-line.ts'

/**
 * `npm run nightly`: runs checks that take too long for every change, one after the other, about four hours in all;
 * exits with 1 when any fails. Arguments name the steps to run, as listed below: `npm run nightly -- simulate`.
 */
const steps: Readonly<Record<string, readonly string[]>> = {
  // seeds and orders that CI does not run, and how many seeds it takes to find planted defects
  simulate: ['scripts/simulate.ts', '--seeds', '2000'],
  'simulate-cluster': ['scripts/simulate.ts', '--seeds', '1000', '--nodes', '3'],
  'simulate-compaction': ['scripts/simulate.ts', '--seeds', '500', '--compaction'],
  'simulate-planted': ['scripts/simulate.ts', '--planted'],
  // tests that CI runs on one store, on both, more kills and seeds of others, and the package on another Node
  stores: ['scripts/test.ts', '--every-store'],
  // a different plan each night
  chaos: ['scripts/chaos.ts', '--minutes', '15'],
  'chaos-streams': ['scripts/chaos.ts', '--streams', '50', '--kills', '200', '--nodes', '3'],
  'chaos-streams-sqlite': ['scripts/chaos.ts', '--streams', '50', '--kills', '200', '--nodes', '1'],
  // more bodies of each operation than CI generates if the sources have changed, then exploration, including sequences of requests
  'schemathesis-bodies': ['scripts/schemathesis.ts'],
  schemathesis: ['scripts/schemathesis.ts', '--secs', '1200'],
  // includes clients that take minutes to compile or install; CI runs some, if a folder of what they test has changed
  clients: ['scripts/clients.ts'],
  // CI runs it if a folder of what it tests has changed
  'mcp-conformance': ['scripts/mcp-conformance/run.ts'],
  'mcp-conformance-server': ['scripts/mcp-conformance/server.ts'],
  // lays out every chart; CI takes those whose digests are as recorded
  generated: ['scripts/generate.ts', '--check', '--anew'],
  'browser-jobs': ['scripts/browser-jobs/run.ts', '--jobs', '1000'],
  image: ['scripts/image.ts'],
  // CI runs it if the chart has changed
  chart: ['scripts/chart/run.ts'],
  soak: ['scripts/soak.ts', '--minutes', '60'],
  bench: ['bench/main.ts', '--long'],
}

const root = resolve(import.meta.dirname, '..')

/** Runs one script to its end with its output shown. @returns whether it succeeded. */
const succeeds = (args: readonly string[]): Promise<boolean> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((done) => {
    child.once('error', () => done(false))
    child.once('exit', (code) => done(code === 0))
  })
}

const usage = [
  'usage: npm run nightly [-- STEP …]',
  '',
  'Runs what takes too long for every change, about four hours in all. Exits with 1 if a step fails.',
  `Steps: ${Object.keys(steps).join(', ')}`,
].join('\n')
const { positionals } = readArguments({ usage, options: {} })
const unknown = positionals.filter((name) => !Object.hasOwn(steps, name))
if (unknown.length > 0) refuseCommandLine(usage, `There is no step ${unknown.join(', ')}.`)
const chosen = positionals.length > 0 ? positionals : Object.keys(steps)

const failed: string[] = []
for (const name of chosen) {
  const startedAt = performance.now()
  console.log(`=== ${name}`)
  const ok = await succeeds(steps[name] ?? [])
  if (!ok) failed.push(name)
  console.log(`=== ${ok ? 'ok' : 'FAILED'}: ${name} (${Math.round((performance.now() - startedAt) / 1000)} s)`)
}
console.log(failed.length === 0 ? 'All steps passed' : `FAILED ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
