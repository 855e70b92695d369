import { fork } from 'node:child_process'
import { once } from 'node:events'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'
import { ourSources, rawSources, type Source, type SourceServer } from './sse/sources.ts'

const streams = 64

/** Number of events that each stream gets per turn of the event loop. */
const eventsATurn = 16

const rounds = sized(3, 1)

interface Measured {
  readonly eventsPerS: number
  /** CPU time of this process, which is the server; the readers run in a separate process. */
  readonly cpuMicrosPerEvent: number
}

type Open = (opened: Parameters<typeof ourSources>[0]) => Promise<SourceServer>

/**
 * Measures SSE to 64 readers: Troupe's log events compared with hand-written uWebSockets.js, which has no log and no
 * limits.
 */
export async function benchSse({ seconds }: { readonly seconds: number }): Promise<readonly Row[]> {
  const ways: readonly Open[] = [
    ourSources,
    (opened) => rawSources(false, opened),
    (opened) => rawSources(true, opened),
  ]
  const [ours, oneByOne, gathered] = await measureInTurns(ways, (seconds * 1000) / rounds)
  if (ours === undefined || oneByOne === undefined || gathered === undefined) throw new Error('nothing measured')
  const bound = { of: 'ratio', atLeast: 0.5 } as const
  const label = `sse events, ${streams} streams`
  return [
    {
      measure: label,
      unit: '/s',
      ours: ours.eventsPerS,
      against: { name: 'raw uWS, one by one', value: oneByOne.eventsPerS },
      bound,
    },
    {
      measure: label,
      unit: '/s',
      ours: ours.eventsPerS,
      against: { name: 'raw uWS, gathered per loop turn', value: gathered.eventsPerS },
      bound,
    },
    {
      measure: 'sse CPU an event',
      unit: 'µs',
      ours: ours.cpuMicrosPerEvent,
      against: { name: 'raw uWS, gathered per loop turn', value: gathered.cpuMicrosPerEvent },
      bound: { of: 'ratio', atMost: 2 },
    },
  ]
}

/** Returns medians over several rounds. Each round measures every server, so that all see the same conditions. */
async function measureInTurns(ways: readonly Open[], ms: number): Promise<readonly Measured[]> {
  const measured: Measured[][] = ways.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, open] of ways.entries()) measured[at]?.push(await measureOnce(open, ms))
  }
  return measured.map((runs) => ({
    eventsPerS: median(runs.map(({ eventsPerS }) => eventsPerS)),
    cpuMicrosPerEvent: median(runs.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)),
  }))
}

async function measureOnce(open: Open, ms: number): Promise<Measured> {
  const all = Promise.withResolvers<void>()
  const pumps: Pump[] = []
  const server = await open((source, onResume) => {
    const pump = new Pump(source)
    onResume(() => pump.resume())
    if (pumps.push(pump) === streams) all.resolve()
  })
  const reader = fork(new URL('./sse/reader.ts', import.meta.url), [String(server.port), String(streams)])
  await all.promise
  const cpu = process.cpuUsage()
  const begun = performance.now()
  const read = once(reader, 'message')
  await pumpFor(pumps, ms)
  const [arrived] = await read
  const took = performance.now() - begun
  const { user, system } = process.cpuUsage(cpu)
  const sent = pumps.reduce((sum, pump) => sum + pump.sent, 0)
  await server.close()
  if (arrived !== sent) throw new Error(`${sent} events sent, ${arrived} arrived`)
  return { eventsPerS: (sent * 1000) / took, cpuMicrosPerEvent: (user + system) / sent }
}

/** Sends to every stream that accepts more, once per loop turn, then ends all streams. */
async function pumpFor(pumps: readonly Pump[], ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end) {
    for (const pump of pumps) pump.turn()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const pump of pumps) pump.end()
}

/** Feeds one stream and respects its back-pressure. */
class Pump {
  readonly #source: Source
  #free = true
  sent = 0

  constructor(source: Source) {
    this.#source = source
  }

  turn(): void {
    if (!this.#free) return
    this.sent += eventsATurn
    this.#free = this.#source.send(eventsATurn)
  }

  resume(): void {
    this.#free = true
  }

  end(): void {
    this.#source.end()
  }
}
