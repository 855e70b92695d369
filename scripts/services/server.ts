import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { type Service, type ServiceSpec, startService } from './service.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * As `npm start` has them. A nursery of 8 MB and two arenas of malloc keep a busy gateway under 180 MB; 16 MB would take a
 * tenth of the CPU off a turn, and cost 15 MB, 4 MB would add a third (specs/decisions/0080-gateway-hot-path.md). The nursery is
 * collected by one thread: others spend more on waiting for their share than it is worth (specs/decisions/0228-hot-paths.md).
 */
export const nodeOptions = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
]
const mallocArenas = { MALLOC_ARENA_MAX: '2' }

/**
 * Starts our own server (src/start.js) as a process of its own, on a free port unless one is named, with a data folder of
 * its own unless DATA_DIR says another.
 *
 * @param env its configuration (docs/operating.md, "Configuration"); nothing but PATH and HOME comes from this process.
 */
export async function startServer(env: Readonly<Record<string, string>> = {}, port?: number): Promise<Service> {
  await sourcesBundled()
  const spec: ServiceSpec = {
    name: 'troupe',
    command: process.execPath,
    env: (port, folder) => ({
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...mallocArenas,
      ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder },
      ...env,
    }),
    args: () => [...nodeOptions, resolve(root, 'src/start.js')],
    url: (port) => `http://127.0.0.1:${port}`,
    started: hasStarted,
  }
  return startService(spec, port)
}

let bundled: Promise<unknown> | undefined

/** Resolves when the sources are bundled, as the first start of an installation leaves them. */
export const sourcesBundled = (): Promise<unknown> => {
  bundled ??= makeBundle()
  return bundled
}

/** Starts take a fifth of the time from the bundle of the sources; without it they are as right (src/start.js). */
const makeBundle = async (): Promise<unknown> => {
  const maker = spawn(process.execPath, [...nodeOptions, resolve(root, 'src/start/make-bundle.ts')], {
    stdio: 'ignore',
  })
  return once(maker, 'exit').catch(() => undefined)
}

/** It takes its port before it looks at its store, and answers `starting` until it has (src/transport/early-listener.ts). */
const hasStarted = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (answer) => !(await answer.text()).includes('starting'),
    () => false,
  )
