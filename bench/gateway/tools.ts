import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '#scripts/services/command.ts'
import { type Service, startService } from '#scripts/services/service.ts'

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../.cache/gateway-bench')

/** The core that is measured on, and the one for all that measures. */
export const cores = { server: '1', load: '0' } as const

/** Whether the load generator and the upstream, which are Go, can be built here. */
export const hasGo = (): boolean => onPath('go') !== null

/** Builds what is not built yet. @returns the path of the binary. */
export function built(name: 'loadgen' | 'upstream'): string {
  const binary = resolve(folder, name)
  if (existsSync(binary)) return binary
  mkdirSync(folder, { recursive: true })
  const made = spawnSync('go', ['build', '-buildvcs=false', '-o', binary, '.'], {
    cwd: resolve(import.meta.dirname, name),
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`go build of ${name} failed: ${made.stderr}`)
  return binary
}

/** The provider: a small server in Go, so that it is never what is measured. */
export const startUpstream = (): Promise<Service> =>
  startService({
    name: 'bench-upstream',
    command: 'taskset',
    env: () => process.env,
    args: (port) => ['-c', cores.load, built('upstream'), '-addr', `127.0.0.1:${port}`],
    url: (port) => `http://127.0.0.1:${port}`,
  })

/** A floor, on the measured core. */
export const startFloor = (name: 'node-floor' | 'uws-floor', upstream: Service): Promise<Service> =>
  startService({
    name: `bench-${name}`,
    command: 'taskset',
    env: () => process.env,
    args: (port) => {
      const script = resolve(import.meta.dirname, `${name}.ts`)
      return ['-c', cores.server, process.execPath, script, String(port), String(upstream.port)]
    },
    url: (port) => `http://127.0.0.1:${port}`,
  })

/** Moves a running process, with all its threads, to the measured core. */
export const pin = async ({ pid }: Service): Promise<void> => {
  await run('taskset', ['-a', '-c', '-p', cores.server, String(pid)])
}

/** One round of load. */
export interface LoadOrder {
  readonly service: Service
  readonly key: string
  readonly callers: number
  readonly stream: boolean
  readonly seconds: number
  readonly model?: string
  /** With `{MODEL}` and `{STREAM}` in it; the generator's own short chat when absent. */
  readonly body?: string
}

/** What a round came to. Times in ms; `cpuUs` is what the server took of a processor for each request. */
export interface Measured {
  readonly rps: number
  readonly p50: number
  readonly firstEvent50: number
  readonly eventsAStream: number
  readonly cpuUs: number
}

/** @throws {Error} when a request failed. */
export async function load(order: LoadOrder): Promise<Measured> {
  const { service, key, callers, stream, seconds, model = 'mock', body } = order
  const before = cpuMs(service)
  const { stdout } = await run('taskset', [
    ...['-c', cores.load, built('loadgen'), '-json', '-url', `${service.url}/v1/chat/completions`],
    ...['-H', `Authorization: Bearer ${key}`, '-model', model, '-c', String(callers), '-t', `${seconds}s`],
    ...(stream ? ['-stream'] : []),
    ...(body === undefined ? [] : ['-body', body]),
  ])
  const said: Readonly<Record<string, number>> = JSON.parse(stdout)
  if (said.bad !== 0 || !said.ok) throw new Error(`${said.bad} requests failed at ${service.url}`)
  const spent = cpuMs(service) - before
  return {
    rps: said.rps ?? 0,
    p50: said.p50 ?? 0,
    firstEvent50: said.ttfe50 ?? 0,
    eventsAStream: said.ev_per_stream ?? 0,
    cpuUs: (spent * 1000) / said.ok,
  }
}

/** CPU time that a process has taken so far, all threads. Linux counts hundredths of a second. */
function cpuMs({ pid }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
