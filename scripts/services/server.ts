import { resolve } from 'node:path'
import { type Service, startService } from './service.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * Starts our own server (src/main.ts) as a process of its own, on a free port, with a data folder of its own.
 *
 * @param env its configuration (README.md, "Configuration"); nothing but PATH and HOME comes from this process.
 */
export function startServer(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  return startService({
    name: 'troupe',
    command: process.execPath,
    env: (port, folder) => ({
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...{ HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder },
      ...env,
    }),
    args: () => ['--disable-warning=ExperimentalWarning', resolve(root, 'src/main.ts')],
    url: (port) => `http://127.0.0.1:${port}`,
  })
}
