import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Service, type ServiceSpec, startService } from './service.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * Node options, the same as in `npm start`. A nursery (young generation) of 8 MB and two malloc arenas keep a busy
 * gateway under 180 MB; 16 MB would save a tenth of a turn's CPU and cost 15 MB, 4 MB would add a third of CPU
 * (specs/decisions/0080-gateway-hot-path.md). One thread collects the nursery: further threads cost more in waiting
 * than they save (specs/decisions/0228-hot-paths.md).
 */
export const nodeOptions = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
]
const mallocArenas = { MALLOC_ARENA_MAX: '2' }

/**
 * Starts the server (src/start.js) as a separate process, on a free port unless one is given, with its own data folder
 * unless DATA_DIR is set. Texts are found by their words, unless EMBEDDER or EMBEDDER_PATH is set: the packaged model
 * would take a second of CPU in every test that writes a memory.
 *
 * @param env its configuration (docs/operating.md, "Configuration"); only PATH and HOME are inherited from this
 * process.
 */
export async function startServer(env: Readonly<Record<string, string>> = {}, port?: number): Promise<Service> {
  await sourcesBundled()
  const spec: ServiceSpec = {
    name: 'troupe',
    command: process.execPath,
    env: (port, folder) => ({ ...inherited(), ...configurationOf(env, port, folder) }),
    args: () => [...nodeOptions, resolve(root, 'src/start.js')],
    url: (port) => `http://127.0.0.1:${port}`,
    started: hasStarted,
  }
  return startService(spec, port)
}

/** What a server's process has of this one's environment. */
export const inherited = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...mallocArenas,
})

/** The configuration of a server on a port, whose data is in the folder unless `env` has another one. */
export const configurationOf = (
  env: Readonly<Record<string, string>>,
  port: number,
  folder: string,
): Readonly<Record<string, string>> => ({
  ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder },
  ...(env.EMBEDDER_PATH === undefined && { EMBEDDER: 'none' }),
  ...env,
})

let bundled: Promise<unknown> | undefined

/** Resolves when the sources are bundled, as after the first start of an installation. */
export const sourcesBundled = (): Promise<unknown> => {
  bundled ??= makeBundle()
  return bundled
}

/** Makes the bundle: starts take a fifth of the time with it, and behave the same without it (src/start.js). */
const makeBundle = async (): Promise<unknown> => {
  const maker = spawn(process.execPath, [...nodeOptions, resolve(root, 'src/start/make-bundle.ts')], {
    stdio: 'ignore',
  })
  return once(maker, 'exit').catch(() => undefined)
}

/**
 * Whether the server has started: it listens before it opens its store, and answers `starting` until then
 * (src/transport/early-listener.ts). Polled some twenty times a start, for which `fetch` takes several times the CPU.
 */
const hasStarted = async (port: number): Promise<boolean> => {
  const sent = get({ host: '127.0.0.1', port, path: '/readyz', agent: false })
  try {
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    return answer !== undefined && !(await text(answer)).includes('starting')
  } catch {
    return false
  }
}
