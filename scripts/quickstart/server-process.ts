import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort, isFree } from '../services/service.ts'

const startFile = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const startLimitMs = 60_000
const pollMs = 50

/** The server, running as a separate process. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  stop(): Promise<void>
}

/** Returns the wanted port if it is free, else any free port, as for 0. */
export const portNear = async (wanted: number): Promise<number> =>
  wanted !== 0 && (await isFree(wanted)) ? wanted : freePort()

/** Starts the server; resolves when it accepts requests. @throws {Error} when it does not within a minute; it has ended then */
export const startServer = async (env: Readonly<Record<string, string>>): Promise<ServerProcess> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', startFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${env.PORT}`
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  try {
    await untilReady(url, child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, process: child, stop }
}

const untilReady = async (url: string, child: ChildProcess): Promise<void> => {
  for (const end = Date.now() + startLimitMs; Date.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new Error('the server did not start')
}
