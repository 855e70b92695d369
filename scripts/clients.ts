import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namesOption, readCommandLine, wholeOption } from '#src/start/command-line.ts'
import { Skipped } from './clients/client-check.ts'
import { knownClients, quickClients } from './clients/known-clients.ts'
import { startServer } from './quickstart/server-process.ts'
import { shareOfCommit } from './services/commit-share.ts'
import { freePort } from './services/service.ts'

/**
 * `npm run clients`: generates a client from the served `/openapi.json` with each code generator, compiles it, and runs
 * a turn of a session with it against a server. `-- --only openapi-typescript,hey-api` runs some of them. Generators
 * are installed into a temporary folder, never into the project. SDKs and agent frameworks (`openai`,
 * `anthropic-python`, `ai-sdk` …) also run turns with tools; `-- --quick` runs only what installs in seconds, and
 * `--every 3` every third client: the next commits have the others.
 * Exit code 1 when a client does not compile or its turn fails. One whose tools are not installed is skipped, and the last line counts those too.
 */
const known = Object.keys(knownClients)
const usage = [
  'usage: npm run clients [-- --only CLIENT,… | [--quick] [--every N]]',
  '',
  'Generates, compiles and runs clients of the API, and runs turns with SDKs and agent frameworks.',
  'Exits with 1 if one fails. --quick runs those that install in seconds; --every 3 every third, the others at the next commits.',
  `Clients: ${known.join(', ')}`,
].join('\n')
const text = { type: 'string' } as const
const values = readCommandLine({ usage, options: { only: text, quick: { type: 'boolean' }, every: text } })
const every = wholeOption(usage, 'every', values.every ?? '1')
const wanted =
  values.only === undefined
    ? shareOfCommit(Object.keys(values.quick === true ? quickClients : knownClients), every)
    : namesOption({ usage, name: 'only', known }, values.only)

const folder = mkdtempSync(join(tmpdir(), 'troupe-clients-'))
const key = `csk_${randomBytes(32).toString('base64url')}`
const server = await startServer({
  PORT: String(await freePort()),
  DATA_DIR: join(folder, 'data'),
  LOG_LEVEL: 'error',
  SIMULATED_PROVIDER: 'on',
  BOOTSTRAP_SECRET_KEY: key,
})
try {
  const document = join(folder, 'openapi.json')
  const answer = await fetch(`${server.url}/openapi.json`)
  if (!answer.ok) throw new Error(`GET /openapi.json: ${answer.status}`)
  writeFileSync(document, await answer.text())
  const counts = { ok: 0, skipped: 0, failed: 0 }
  for (const name of wanted) {
    const check = knownClients[name]
    if (check === undefined) continue
    const startedAt = performance.now()
    try {
      check({ folder: mkdtempSync(join(folder, 'client-')), document, url: server.url, key })
      counts.ok++
      console.log(`ok     ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    } catch (error) {
      if (error instanceof Skipped) {
        counts.skipped++
        console.log(`skipped ${name} (${error.message})`)
        continue
      }
      counts.failed++
      process.exitCode = 1
      console.log(`FAILED ${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  console.log(
    Object.entries(counts)
      .map(([result, count]) => `${count} ${result}`)
      .join(', '),
  )
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
