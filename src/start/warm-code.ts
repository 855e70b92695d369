import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { currentBundle, folderOf, loadBundle } from './bundle.js'

/*
 * Stores V8's code cache for a start, the first turn and the first memory search: a server from the bundle starts on a
 * loopback port with an empty data folder and simulated models, answers, and exits. Its environment is empty, so that
 * it reaches no other system.
 */
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const bundle = currentBundle(root)
const data = mkdtempSync(`${folderOf(root)}/warm-`)
const secretKey = `csk_${randomBytes(32).toString('base64url')}`

/** Exports of src/main.ts. */
interface Entry {
  readonly run: () => Promise<void>
  readonly loadDrivers: () => Promise<unknown>
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: Partial<AddressInfo> = Object(server.address())
  server.close()
  await once(server, 'close')
  return port ?? 0
}

const answers = async (url: string): Promise<void> => {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const request = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.text()
  }
  await (await fetch(`${url}/readyz`)).text()
  const { id }: { readonly id?: unknown } = Object(JSON.parse(await request('/v1/sessions', {})))
  await request(`/v1/sessions/${String(id)}/turns`, { input: 'hello' })
  await request('/v1/memory/write', { userId: 'warm', content: 'hello' })
  await request('/v1/memory/search', { userId: 'warm', query: 'hello' })
  await request('/v1/chat/completions', { model: 'simulated-1', messages: [{ role: 'user', content: 'hello' }] })
}

const warm = async (port: number): Promise<void> => {
  if (bundle === null) return
  Object.assign(process.env, { HOST: '127.0.0.1', PORT: String(port), DATA_DIR: data, BOOTSTRAP_SECRET_KEY: secretKey })
  const loaded = loadBundle(root, bundle)
  // keep V8 from dropping code that has not run for a while
  setFlagsFromString('--no-flush-bytecode')
  const { run, loadDrivers }: Partial<Entry> = loaded.run()
  await run?.()
  await loadDrivers?.()
  await answers(`http://127.0.0.1:${port}`)
  // V8 accepts cached code only under the flags it was stored under: those of a start (src/main.ts sets the last one)
  setFlagsFromString('--flush-bytecode')
  setFlagsFromString('--heap-growing-percent=0')
  loaded.keepCode()
}

try {
  await warm(await freePort())
} finally {
  rmSync(data, { recursive: true, force: true })
}
process.exit()
