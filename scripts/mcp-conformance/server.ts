import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { readCommandLine } from '#src/start/command-line.ts'
import { startServer } from '../quickstart/server-process.ts'
import { npmPackages } from '../services/npm-packages.ts'
import { freePort } from '../services/service.ts'
import { runAuthorization } from './authorization.ts'
import { inspect } from './inspector.ts'

/*
 * Runs the official conformance suite on our tool server, at the wire version of each revision. The suite sends no
 * credentials, so a proxy in front of the server adds the key. The scenarios that are left out call tools, prompts and
 * resources of the suite's own example server, which ours does not have.
 */

readCommandLine({
  usage:
    'usage: npm run mcp-conformance-server\n\nRuns the official conformance suite and inspector of the Model Context Protocol on our tool server.',
  options: {},
})

const scenarios: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection'],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'caching',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
}
/** Checks in these scenarios that need the example server's diagnostic tool, prompts or resources. */
const ofTheExample = new Set([
  'ServerRejectsUndeclaredCapability',
  'MissingCapabilityHttp400',
  'PromptsListCachingHints',
  'ResourcesListCachingHints',
  'ResourcesTemplatesListCachingHints',
])
const timeoutMs = 60_000

const packages = await npmPackages('mcp')
const suite = join(packages.resolve('@modelcontextprotocol/conformance/package.json'), '../dist/index.js')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-server-'))
const key = `csk_${'conformance'.repeat(4)}`
const owner = { email: 'owner@example.com', password: 'a long password' }
const server = await startServer({
  ...{ PORT: String(await freePort()), DATA_DIR: join(folder, 'data'), BOOTSTRAP_SECRET_KEY: key },
  ...{ SIMULATED_PROVIDER: 'on', LOG_LEVEL: 'error' },
  ...{ BOOTSTRAP_OWNER_EMAIL: owner.email, BOOTSTRAP_OWNER_PASSWORD: owner.password },
})

/** Forwards each request with the key added, and otherwise unchanged, including its Host and Origin headers. */
const forwarder = createServer((incoming, answer) => {
  const { port } = new URL(server.url)
  const headers = { ...incoming.headers, authorization: `Bearer ${key}` }
  const { method = 'GET', url = '/' } = incoming
  const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (came) => {
    answer.writeHead(came.statusCode ?? 502, came.headers)
    came.pipe(answer)
  })
  outgoing.on('error', () => answer.writeHead(502).end())
  incoming.pipe(outgoing)
})
await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve))
const address = forwarder.address()
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`

/**
 * Returns the suite's output for a failed scenario; null when it passed, or failed only checks that need the example
 * server.
 */
const failureOf = async (scenario: string, revision: string): Promise<string | null> => {
  const args = [suite, 'server', '--url', url, '--scenario', scenario, '--spec-version', revision]
  try {
    await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024, timeout: timeoutMs, cwd: folder })
    return null
  } catch (error) {
    const { stdout, stderr } = Object(error)
    const said = stripVTControlCharacters(`${stdout}\n${stderr}`)
    const checks = [...said.matchAll(/^ {2}- (\w+): [^\n]*\n {4}Error: /gm)].map(([, name = '']) => name)
    return checks.length > 0 && checks.every((name) => ofTheExample.has(name)) ? null : said
  }
}

try {
  for (const [revision, names] of Object.entries(scenarios)) {
    const failed: string[] = []
    for (const scenario of names) {
      const said = await failureOf(scenario, revision)
      if (said !== null) failed.push(`FAILED ${revision} ${scenario}\n${said.split('\n').slice(-40).join('\n')}`)
    }
    for (const each of failed) console.log(each)
    if (failed.length > 0) process.exitCode = 1
    console.log(`${revision}: ${names.length - failed.length} of ${names.length} server scenarios`)
  }
  const { passed, said } = await runAuthorization(suite, { url: server.url, ...owner })
  if (!passed) process.exitCode = 1
  console.log(passed ? 'the scenarios of authorization servers: passed' : `FAILED authorization\n${said}`)
  const inspected = inspect({ folder, url: server.url, key })
  for (const { name, failure } of inspected) if (failure !== null) console.log(`FAILED inspector ${name}\n${failure}`)
  const right = inspected.filter(({ failure }) => failure === null).length
  if (right < inspected.length) process.exitCode = 1
  console.log(`inspector: ${right} of ${inspected.length} commands`)
} finally {
  forwarder.closeAllConnections()
  forwarder.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
