import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { namesOption, positiveOption, readCommandLine, wholeOption } from '#src/start/command-line.ts'
import type { Operation } from '../specs/dsl/declare.ts'
import { operations } from '../src/actors/capabilities.ts'
import { startSimulatedProvider } from '../src/gateway/simulated/server.ts'
import { openapiFile } from './generate/openapi.ts'
import { startServer } from './quickstart/server-process.ts'
import { makeResources, sender } from './schemathesis/known-ids.ts'
import { installSchemathesis } from './schemathesis/python-tool.ts'
import { settingsOf } from './schemathesis/settings.ts'
import { shareOfCommit } from './services/commit-share.ts'
import { freePort } from './services/service.ts'

/**
 * `npm run schemathesis`: tests a running server against its OpenAPI document with generated requests, valid and
 * invalid ones, with all checks on: no 5xx, no undocumented status, no answer that violates its schema, no invalid
 * request accepted, no valid one refused.
 *
 * It sends the same requests each time. `-- --secs 90` explores, including sequences of requests, for that long in each
 * of two parts: operations for a secret key, and operations for a dashboard session. `-- --examples 4` generates that
 * many random bodies per operation, in addition to those derived from its schema; `-- --only a.create,b.list` tests
 * only these operations, and `-- --every 4` every fourth one: the next commits have the others.
 */
const usage = [
  'usage: npm run schemathesis -- [--examples 20] [--secs SECONDS] [--only OPERATION,…] [--every N]',
  '',
  'Tests a server against its OpenAPI document with generated requests. Exits with 1 if a response contradicts the document.',
  '--secs explores for that long in each of two parts; --only takes operation ids, such as sessions.create; --every 4 tests',
  'every fourth operation, and those between them at the next commits.',
].join('\n')
const text = { type: 'string' } as const
const values = readCommandLine({
  usage,
  options: { secs: text, examples: text, only: text, every: text },
})
const examples = wholeOption(usage, 'examples', values.examples ?? '20')
if (values.secs !== undefined) positiveOption(usage, 'secs', values.secs)
const every = Math.max(1, wholeOption(usage, 'every', values.every ?? '1'))
const known = Object.values(operations).map(({ id }) => id)

/** Operations given by `--only`; all when it is absent. */
const chosen = (values.only === undefined ? [] : namesOption({ usage, name: 'only', known }, values.only)).flatMap(
  (id) => ['--include-operation-id', id],
)

const dashboardPaths = '^/api/(projects|auth|nodes)'
const owner = { email: 'owner@example.org', password: randomBytes(18).toString('base64url') }
const key = `csk_${randomBytes(32).toString('base64url')}`
const folder = mkdtempSync(join(tmpdir(), 'troupe-schemathesis-'))

const declared: readonly Operation[] = Object.values(operations)
/** Leaves out all operations but every n-th. They stay in the document, which says what methods a path has. */
const leftOut = (): readonly string[] => {
  const share = new Set(shareOfCommit(declared, every))
  return declared.filter((each) => !share.has(each)).flatMap(({ id }) => ['--exclude-operation-id', id])
}

const signIn = async (url: string): Promise<string> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify(owner) })
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

const tenantHeaders = /"name":"X-(?:Tenant|External-User)-Id"/

/**
 * Removes the headers that name a tenant or a user. They take ASCII only, which no schema states, and one of the
 * servers drops other bytes before they are seen (specs/decisions/0010-interface-as-code.md). Separate sweeps test them
 * (test/e2e/sweep).
 */
const withoutTenantHeaders = (_name: string, value: unknown): unknown =>
  Array.isArray(value) ? value.filter((each) => !tenantHeaders.test(JSON.stringify(each) ?? '')) : value

/** The HTTP server refuses a head that is too large before the operation is known, and without a body. */
const headTooLarge = { description: 'The request line and headers are larger than the server reads.' }

/** Whether a schema is that of an event stream: Schemathesis would hold the event itself against it, instead of its data. */
const isOfStream = (name: string): boolean => name === 'text/event-stream'

/** Adapts the document to what generated requests can be tested against. */
const adapted = (name: string, value: unknown): unknown => (isOfStream(name) ? { schema: {} } : withHead(name, value))

const withHead = (name: string, value: unknown): unknown =>
  name === 'responses' && typeof value === 'object' && value !== null && '500' in value
    ? { ...value, 431: headTooLarge }
    : withoutTenantHeaders(name, value)

/**
 * Exploration is not deterministic: its extent depends on the machine, and the effects of a sequence of requests differ
 * from run to run.
 */
const extent =
  values.secs === undefined
    ? ['--phases', 'examples,coverage,fuzzing']
    : ['--phases', 'examples,coverage,fuzzing,stateful', '--max-time', values.secs]

/**
 * In seconds. The server waits up to 30 s for a customer's server, and generated requests name some that never answer;
 * the rest is a margin for a machine that stalls.
 */
const waits = ['--request-timeout', '120', '--max-response-time', '60']

/** Runs Schemathesis with its output shown. @returns its exit code. */
const schemathesis = (python: string, url: string, ...more: readonly string[]): Promise<number> => {
  const args = [
    ...['-c', 'from schemathesis.cli import schemathesis; schemathesis()'],
    ...['--config-file', join(folder, 'schemathesis.toml'), 'run', join(folder, 'openapi.json')],
    ...['--url', url, '--max-examples', String(examples), '--workers', '1', ...extent],
    ...chosen,
    ...leftOut(),
    ...['--checks', 'all', '--continue-on-failure'],
    // path ids are fixed in the settings, so a path never names what the previous request created
    ...['--exclude-checks', 'ensure_resource_availability'],
    // credentials are set here; the check ignored_auth takes them away
    ...['--generation-with-security-parameters', 'false'],
    ...['--generation-deterministic', '--warnings', 'off', '--no-color', ...waits, ...more],
  ]
  const path = [python, process.env.PYTHONPATH].filter(Boolean).join(delimiter)
  const hooks = join(import.meta.dirname, 'schemathesis/hooks.py')
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', SCHEMATHESIS_HOOKS: hooks }
  const child = spawn('python3', args, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

const python = installSchemathesis()
const models = await startSimulatedProvider()
const server = await startServer({
  PORT: String(await freePort()),
  DATA_DIR: join(folder, 'data'),
  LOG_LEVEL: 'error',
  SIMULATED_PROVIDER: 'on',
  // host of the models that its connections sync
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  BOOTSTRAP_SECRET_KEY: key,
  BOOTSTRAP_OWNER_EMAIL: owner.email,
  BOOTSTRAP_OWNER_PASSWORD: owner.password,
})
try {
  const send = sender(server.url, key)
  const [known, doomed] = [
    await makeResources(send, 'known', models.url),
    await makeResources(send, 'doomed', models.url),
  ]
  // before the long work that follows, in which the server closes connections without requests
  const cookie = await signIn(server.url)
  const document: unknown = JSON.parse(openapiFile(declared, '0').text, adapted)
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
  writeFileSync(join(folder, 'schemathesis.toml'), settingsOf(declared, known, doomed))
  const asKey = ['--header', `Authorization: Bearer ${key}`, '--exclude-path-regex', dashboardPaths]
  const asOwner = ['--header', `Cookie: ${cookie}`, '--include-path-regex', dashboardPaths]
  const codes = [await schemathesis(python, server.url, ...asKey), await schemathesis(python, server.url, ...asOwner)]
  process.exitCode = Math.max(...codes)
} finally {
  await server.stop()
  await models.close()
  rmSync(folder, { recursive: true, force: true })
}
