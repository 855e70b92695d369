import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configurationOf } from '#scripts/services/server.ts'
import { freePort, type Service } from '#scripts/services/service.ts'
import { hostOfWorker } from './server-host.ts'

/**
 * Opens an installation in the server process that the test files of a worker share: a sixth of the CPU of a process of
 * its own, and the code that requests run is compiled already. It has its own store, port, settings and log. `kill9`
 * kills the process, and so is refused while another installation is open in it.
 */
export const openHosted = async (env: Readonly<Record<string, string>>): Promise<Service> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-hosted-'))
  try {
    return await launch(env, await freePort(), folder)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

const launch = async (env: Readonly<Record<string, string>>, port: number, folder: string): Promise<Service> => {
  const file = join(folder, 'log')
  const log = (): string => readFileSync(file, 'utf8')
  const host = await hostOfWorker()
  const opened = await host.open(configurationOf(env, port, folder), file).catch((error: unknown) => {
    throw new Error(`troupe did not start\n${log().trim().split('\n').slice(-8).join('\n')}`, { cause: error })
  })
  return {
    ...{ url: `http://127.0.0.1:${port}`, port, log, exited: host.exited },
    get pid(): number {
      throw new Error('the process of this installation is shared: start it with `ownProcess: true`')
    },
    kill9: () => host.kill9(),
    restart: () => launch(env, port, folder),
    stop: async () => {
      await opened.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
