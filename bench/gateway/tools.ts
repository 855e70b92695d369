import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '#scripts/services/command.ts'
import { type Service, startService } from '#scripts/services/service.ts'
import { median, type Row } from '../row.ts'

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../.cache/gateway-bench')

/** CPU cores: one for the measured server, one for the load generator and the upstream. */
export const cores = { server: '1', load: '0' } as const

/** Whether Go is installed: the load generator and the upstream are written in it. */
const hasGo = (): boolean => onPath('go') !== null

/** Starts a server of a measurement, and stops it at its end. */
type Keep = (starting: Promise<Service>) => Promise<Service>

/** Measures beside servers that are stopped in the end, the last first. No rows where there is no Go. */
export async function besideServices(measure: (keep: Keep) => Promise<readonly Row[]>): Promise<readonly Row[]> {
  if (!hasGo()) {
    console.error('no Go here: the load generator and the provider of this section cannot be built, so it is left out')
    return []
  }
  const services: Service[] = []
  try {
    return await measure(async (starting) => {
      const service = await starting
      services.unshift(service)
      return service
    })
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Builds the binary unless it exists. @returns its path. @throws {Error} when the build fails. */
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

/** Starts the mock provider. It is written in Go, so that it is never the bottleneck. */
export const startUpstream = (): Promise<Service> =>
  startService({
    name: 'bench-upstream',
    command: 'taskset',
    env: () => process.env,
    args: (port) => ['-c', cores.load, built('upstream'), '-addr', `127.0.0.1:${port}`],
    url: (port) => `http://127.0.0.1:${port}`,
  })

/** Starts a bare proxy on the measured core. */
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

/** Moves a running process, with all its threads, to the measured core unless another one is named. */
export const pin = async ({ pid }: Service, core: string = cores.server): Promise<void> => {
  await run('taskset', ['-a', '-c', '-p', core, String(pid)])
}

/** Parameters of one round of load. */
export interface LoadOrder {
  readonly service: Service
  /** Headers of each call: who calls, and whatever else its server needs to know. */
  readonly headers: Readonly<Record<string, string>>
  readonly callers: number
  readonly stream: boolean
  readonly seconds: number
  readonly model?: string
  /** Body with the placeholders `{MODEL}` and `{STREAM}`; the generator's own short chat when absent. */
  readonly body?: string
}

/** Results of one round. Times in ms; `cpuUs` is the server's CPU time per request, in µs. */
export interface Measured {
  readonly rps: number
  readonly p50: number
  readonly p99: number
  readonly firstEvent50: number
  readonly eventsAStream: number
  readonly cpuUs: number
}

/** What a call with a key carries. */
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Runs one round of load. @throws {Error} when a request failed. */
export async function load(order: LoadOrder): Promise<Measured> {
  const { service, callers, stream, seconds, model = 'mock', body } = order
  const headers = Object.entries(order.headers).map(([name, value]) => `${name}: ${value}`)
  const before = cpuMs(service)
  const { stdout, stderr } = await run('taskset', [
    ...['-c', cores.load, built('loadgen'), '-json', '-v', '-url', `${service.url}/v1/chat/completions`],
    ...['-H', headers.join(';;'), '-model', model, '-c', String(callers), '-t', `${seconds}s`],
    ...(stream ? ['-stream'] : []),
    ...(body === undefined ? [] : ['-body', body]),
  ])
  const said: Readonly<Record<string, number>> = JSON.parse(stdout)
  if (said.bad !== 0 || !said.ok) throw new Error(`${said.bad} requests failed at ${service.url}: ${stderr}`)
  const spent = cpuMs(service) - before
  return {
    rps: said.rps ?? 0,
    p50: said.p50 ?? 0,
    p99: said.p99 ?? 0,
    firstEvent50: said.ttfe50 ?? 0,
    eventsAStream: said.ev_per_stream ?? 0,
    cpuUs: (spent * 1000) / said.ok,
  }
}

/** A typical chat of 1 KB, with digits and dates, and with one address to redact. */
export const kilobyteChat = JSON.stringify({
  ...{ model: '{MODEL}', max_tokens: 64 },
  messages: [
    { role: 'system', content: 'You answer questions of customers of a shop, briefly and in their language.' },
    {
      role: 'user',
      content: `My order 4711-0815 of 12 March 2026 came with two of three parts. ${'I have looked twice, and asked the neighbours as well. '.repeat(15)}Please write to ada@example.com.`,
    },
  ],
}).replace('{', '{"stream":{STREAM},')

/** Changes a policy of the project at a server of ours. */
export async function changed(
  { service: { url }, headers }: Pick<LoadOrder, 'service' | 'headers'>,
  policy: string,
  change: object,
): Promise<void> {
  const answer = await fetch(`${url}/v1/${policy}`, {
    ...{ method: 'PATCH', body: JSON.stringify(change) },
    headers: { ...headers, 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`the ${policy} could not be changed: ${answer.status}`)
}

/** The medians of several rounds. */
export const middle = (all: readonly Measured[]): Measured => ({
  rps: median(all.map(({ rps }) => rps)),
  p50: median(all.map(({ p50 }) => p50)),
  p99: median(all.map(({ p99 }) => p99)),
  firstEvent50: median(all.map(({ firstEvent50 }) => firstEvent50)),
  eventsAStream: median(all.map(({ eventsAStream }) => eventsAStream)),
  cpuUs: median(all.map(({ cpuUs }) => cpuUs)),
})

/** Resident memory of a server, in MB. */
export const memoryOf = ({ pid }: Service): number => {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** CPU time in ms that all threads of a process have used so far. Linux counts it in hundredths of a second. */
function cpuMs({ pid }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
