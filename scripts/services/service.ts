import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onPath } from './command.ts'

/** A server process of a test, on a free loopback port, with its own data folder, which `stop` removes. */
export interface Service {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Kills the process without warning, like a crash, and waits until it has ended. The data stays. */
  kill9(): Promise<void>
  /** Starts it again on the same port and data after `kill9`. */
  restart(): Promise<Service>
  /** All output of the process, including that of earlier starts. */
  log(): string
  /** Resolves when the process has ended, with its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** Ends the process with SIGTERM (SIGKILL after 40 s) and removes its data. */
  stop(): Promise<void>
}

/** Describes how to start one kind of server. */
export interface ServiceSpec {
  readonly name: string
  readonly command: string
  env(port: number, dataFolder: string): NodeJS.ProcessEnv
  args(port: number, dataFolder: string): readonly string[]
  url(port: number): string
  /**
   * Whether the server has started, if it accepts connections before that; absent: it has started when it accepts
   * connections.
   */
  started?(port: number): Promise<boolean>
}

const startTimeoutMs = 120_000
const stopTimeoutMs = 40_000
const pollMs = 25

/** Port range below the kernel's ephemeral ports, so that a port stays free while its server is down. */
const ports = { first: 15_000, count: 15_000 } as const
const portTries = 100

/** Starts a server with a new data folder, on a free port unless one is named; resolves when it accepts connections. */
export async function startService(spec: ServiceSpec, port?: number): Promise<Service> {
  for (let tries = 1; ; tries++) {
    const folder = mkdtempSync(join(tmpdir(), `troupe-${spec.name}-`))
    try {
      return await launch(spec, port ?? (await freePort()), folder)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      // another process may have begun to listen since the check
      if (port !== undefined || tries === 3 || !/EADDRINUSE|Address already in use/i.test(String(error))) throw error
    }
  }
}

/** Returns a loopback port that was free at the time of the check. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portTries; tries++) {
    const port = ports.first + randomInt(ports.count)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port after ${portTries} tries`)
}

/** Whether a server can listen on the port now. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** Resolves when the port accepts connections; rejects when `gone()` returns a reason why it never will. */
async function acceptsOn(
  port: number,
  gone: () => string | null,
  started: (port: number) => Promise<boolean> = accepts,
): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  while (!(await started(port))) {
    const reason = gone() ?? (performance.now() > deadline ? `nothing listens after ${startTimeoutMs} ms` : null)
    if (reason !== null) throw new Error(reason)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function launch(spec: ServiceSpec, port: number, folder: string): Promise<Service> {
  const child = spawnInto(join(folder, 'log'), spec, port, folder)
  const log = () => readFileSync(join(folder, 'log'), 'utf8')
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve).once('error', () => resolve(null))
  })
  const isGone = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  const end = async (signal: NodeJS.Signals) => {
    if (!isGone()) child.kill(signal)
    await exited
  }
  try {
    await acceptsOn(port, () => (isGone() ? 'it ended' : null), spec.started)
  } catch (error) {
    await end('SIGKILL')
    throw new Error(`${spec.name} did not start\n${log().trim().split('\n').slice(-8).join('\n')}`, { cause: error })
  }
  return {
    url: spec.url(port),
    port,
    pid: child.pid ?? 0,
    exited,
    log,
    kill9: () => end('SIGKILL'),
    restart: () => launch(spec, port, folder),
    stop: async () => {
      const impatience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      await end('SIGTERM')
      clearTimeout(impatience)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function spawnInto(log: string, spec: ServiceSpec, port: number, folder: string): ChildProcess {
  const output = openSync(log, 'a')
  const prefix = dyingWithUs()
  const [command, ...args] = [...prefix, spec.command, ...spec.args(port, folder)]
  const child = spawn(command ?? spec.command, args, {
    env: spec.env(port, folder),
    stdio: ['ignore', output, output],
    // Ctrl-C reaches only this process, which ends its servers in order
    detached: prefix.length > 0,
  })
  closeSync(output)
  return child
}

/**
 * Command prefix that makes the kernel end the server when this process dies, in whatever way; empty where that is not
 * possible.
 */
function dyingWithUs(): readonly string[] {
  const setpriv = onPath('setpriv')
  return setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL']
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const answer = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => answer(true)).once('error', () => answer(false))
  })
}
