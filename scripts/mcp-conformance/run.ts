import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { readCommandLine, wholeOption } from '#src/start/command-line.ts'
import { startServer } from '../quickstart/server-process.ts'
import { shareOfCommit } from '../services/commit-share.ts'
import { npmPackages } from '../services/npm-packages.ts'
import { freePort } from '../services/service.ts'
import { Product } from './product.ts'
import { startScriptedModel } from './scripted-model.ts'

/*
 * Runs the official conformance suite on this server as a client of remote tool servers: every client scenario that a
 * revision requires, as frozen at its release. Scenarios run one after the other in two lanes: all at once, as the
 * suite runs them, they would compete for the CPU. Each scenario starts the suite and client.ts anew, about a hundred
 * starts in all, so each of the two is bundled into one file. client.ts drives one server process through its API.
 */

const usage = [
  'usage: npm run mcp-conformance -- [--only TEXT] [--every N]',
  '',
  'Runs the official conformance suite of the Model Context Protocol on a server, as a client of tool servers. Exits with 1 if a scenario fails.',
  '',
  '--only TEXT  runs the scenarios whose name contains TEXT',
  '--every 3    runs every third scenario: the next commits have the others',
].join('\n')
const text = { type: 'string' } as const
const { only = '', ...given } = readCommandLine({ usage, options: { only: text, every: text } })
const every = wholeOption(usage, 'every', given.every ?? '1')

const revisions = ['2025-11-25', '2026-07-28']
const lanes = 2
/** Time in ms for which the suite waits for client.ts: a scenario takes 2 s, and ends by itself if the server fails. */
const timeoutMs = 240_000

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))

/** Bundles a program and its imports into one file, which starts in half the CPU time. @returns the file. */
const inOneFile = async (program: string, file: string): Promise<string> => {
  const bundle = await rolldown({ input: program, platform: 'node', logLevel: 'silent' })
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  return file
}

const suitePackage = dirname((await npmPackages('mcp')).resolve('@modelcontextprotocol/conformance/package.json'))
// the suite looks in its own folder for the requirements of a revision
cpSync(suitePackage, join(folder, 'suite'), { recursive: true })
const suite = await inOneFile(join(suitePackage, 'dist/index.js'), join(folder, 'suite/dist/index.js'))
// packages that our sources load at run time, by name
symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
const client = await inOneFile(join(import.meta.dirname, 'client.ts'), join(folder, 'client.mjs'))

/** Result of one scenario. */
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

/** Address of the client metadata document that the suite expects. The browser of client.ts knows where it leads. */
const publicUrl = 'https://conformance-test.local'
const key = `csk_${'conformance'.repeat(4)}`
const model = await startScriptedModel()
const server = await startServer({
  ...{ PORT: String(await freePort()), DATA_DIR: join(folder, 'data'), BOOTSTRAP_SECRET_KEY: key },
  ...{ PUBLIC_URL: publicUrl, ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.1', LOG_LEVEL: 'error' },
})
const product = new Product({ url: server.url, publicUrl, key })
const provider = { name: 'Scripted', provider: 'openai', base_url: model.url, api_key: 'none' }
const { id: providerId } = await product.request('/v1/provider-connections', provider)
const { id: sync } = await product.request(`/v1/provider-connections/${providerId}/model-syncs`, {})
await product.request(`/v1/provider-connections/${providerId}/model-syncs/${sync}/apply`, {})
const env = { ...process.env, TROUPE_URL: server.url, TROUPE_PUBLIC_URL: publicUrl, TROUPE_KEY: key }

const outcomeOf = async (revision: string, scenario: string, folder: string): Promise<Outcome> => {
  const command = `${process.execPath} ${client}`
  const which = ['--scenario', scenario, '--spec-version', revision]
  const args = [suite, 'client', '--command', command, ...which, '--timeout', String(timeoutMs), '--output-dir', folder]
  try {
    await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024, env })
    return { revision, scenario, passed: true, said: '' }
  } catch (error) {
    const { stdout, stderr } = Object(error)
    return { revision, scenario, passed: false, said: `${stdout}\n${stderr}` }
  }
}

const known: Pick<Outcome, 'revision' | 'scenario'>[] = []
for (const revision of revisions)
  for (const scenario of await required(revision)) if (scenario.includes(only)) known.push({ revision, scenario })
const waiting = [...shareOfCommit(known, every)]

const outcomes: Outcome[] = []
const lane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    outcomes.push(await outcomeOf(next.revision, next.scenario, folder))
}
await Promise.all(Array.from({ length: lanes }, lane))
await server.stop()
model.close()
rmSync(folder, { recursive: true, force: true })

const failed = outcomes.filter(({ passed }) => !passed)
for (const { said } of failed) console.log(said.split('\n').slice(-40).join('\n'))
for (const revision of revisions) {
  const all = outcomes.filter((each) => each.revision === revision)
  console.log(`${revision}: ${all.filter(({ passed }) => passed).length} of ${all.length} required client scenarios`)
}
// last, where the end of a long log shows them
for (const { revision, scenario, said } of failed) {
  const reason = /^(?:Client timed out|Error: | {2}- ).*/m.exec(said)?.[0].trim() ?? 'the suite gives no reason'
  console.log(`FAILED ${revision} ${scenario}: ${reason}`)
}
if (outcomes.length === 0 || failed.length > 0) process.exitCode = 1
