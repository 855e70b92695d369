import { randomBytes } from 'node:crypto'
import { startMongod } from '../services/mongod.ts'
import { startServer } from '../services/server.ts'
import type { Service } from '../services/service.ts'
import { GaugeReader, type Gauges } from './gauges.ts'
import { SteadyLoad } from './steady-load.ts'
import type { SoakWindow } from './verdict.ts'

/** Options of a soak. */
export interface SoakOptions {
  readonly minutes: number
  readonly turnsPerSecond: number
  readonly say: (line: string) => void
}

/** Results of a soak. */
export interface SoakOutcome {
  /** Windows after the first fifth, in which caches fill and code is compiled. */
  readonly windows: readonly SoakWindow[]
  /** The first failure of each window. */
  readonly failures: readonly string[]
}

/** Number of windows of a soak. */
const windows = 15
const warmUpWindows = 3

/** Runs a real server on a real MongoDB under a steady load, and measures it window by window. */
export const runSoak = async ({ minutes, turnsPerSecond, say }: SoakOptions): Promise<SoakOutcome> => {
  const services: Service[] = []
  const key = `csk_${randomBytes(32).toString('base64url')}`
  const mongod = await startMongod()
  services.unshift(mongod)
  try {
    const mongodbUrl = `${mongod.url}soak`
    const env = { MONGODB_URL: mongodbUrl, BOOTSTRAP_SECRET_KEY: key, SIMULATED_PROVIDER: 'on', LOG_LEVEL: 'warn' }
    const server = await startServer(env)
    services.unshift(server)
    const gauges = new GaugeReader(server.url, mongodbUrl)
    const load = new SteadyLoad({ server, key, turnsPerSecond })
    load.start()
    const outcome = await watch({ load, gauges, say, windowMs: (minutes * 60_000) / windows })
    await load.stop()
    await gauges.close()
    return outcome
  } finally {
    for (const service of services) await service.stop()
  }
}

interface Watched {
  readonly load: SteadyLoad
  readonly gauges: GaugeReader
  readonly say: SoakOptions['say']
  readonly windowMs: number
}

const watch = async ({ load, gauges, say, windowMs }: Watched): Promise<SoakOutcome> => {
  const seen: SoakWindow[] = []
  const failures: string[] = []
  let before = await gauges.read()
  for (let at = 0; at < windows; at++) {
    await new Promise((resolve) => setTimeout(resolve, windowMs))
    const after = await gauges.read()
    const taken = load.take()
    const window = windowOf(taken.times, taken.failures.length, { before, after })
    failures.push(...taken.failures.slice(0, 1))
    say(lineOf(at, window))
    seen.push(window)
    before = after
  }
  return { windows: seen.slice(warmUpWindows), failures }
}

const windowOf = (
  times: readonly number[],
  failures: number,
  { before, after }: { readonly before: Gauges; readonly after: Gauges },
): SoakWindow => ({
  turns: times.length,
  failures,
  p99: times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN,
  rssMb: after.rssMb,
  handles: after.handles,
  openCommits: after.openCommits,
  bytesPerTurn: (after.storedBytes - before.storedBytes) / Math.max(1, times.length),
})

const lineOf = (at: number, window: SoakWindow): string =>
  `${String(at + 1).padStart(2)}/${windows} ${window.turns} turns, ${window.failures} failed, p99 ${window.p99.toFixed(0)} ms, ` +
  `${window.rssMb.toFixed(0)} MB, ${window.handles} handles, ${window.openCommits} open commits, ` +
  `${window.bytesPerTurn.toFixed(0)} bytes a turn${at < warmUpWindows ? ' (warming up)' : ''}`
