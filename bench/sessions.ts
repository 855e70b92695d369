import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startMongod } from '../scripts/services/mongod.ts'
import { startServer } from '../scripts/services/server.ts'
import type { Service } from '../scripts/services/service.ts'
import { sized } from './extent.ts'
import type { Row } from './row.ts'
import type { ClientOrder, Outcome } from './sessions/client.ts'
import { modelEnv, startScript } from './turns.ts'

const run = promisify(execFile)
const streaming = sized(1_000, 50)
const stored = sized(100_000, 400)
/** The most sessions that a server keeps in memory without passivating any. */
const idle = sized(15_000, 200)
const pollMs = 250
/** Interval in ms between the forty parts of each stream. */
const partEveryMs = sized(250, 10)

/**
 * Measures one server on MongoDB: 1,000 concurrently streaming turns with four parts a second each, with 15,000 and
 * then with 100,000 stored sessions, and the memory that this takes. Also measures by how much 15,000 idle sessions
 * make a new process grow, including garbage from creating them (section `runtime` measures the live part of one
 * session).
 */
export async function benchSessions(): Promise<readonly Row[]> {
  const services: Service[] = []
  const keep = async (starting: Promise<Service>) => {
    const service = await starting
    services.unshift(service)
    return service
  }
  try {
    const mongod = await keep(startMongod())
    const model = await keep(startScript('sessions/slow-model', [String(partEveryMs)]))
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const env = { MONGODB_URL: `${mongod.url}troupe`, BOOTSTRAP_SECRET_KEY: key, ...modelEnv(model) }
    return await measure(await keep(startServer(env)), key)
  } finally {
    for (const service of services) await service.stop()
  }
}

async function measure(server: Service, key: string): Promise<readonly Row[]> {
  const clients = (order: Pick<ClientOrder, 'create' | 'stream'>) => outcomeOf({ url: server.url, key, ...order })
  await clients({ stream: 50 })
  const before = memoryMb(server)
  await clients({ create: idle })
  const perActor = ((memoryMb(server) - before) * 1024 * 1024) / idle
  const few = await watched(server, () => clients({ stream: streaming }))
  const filling = await watched(server, () => clients({ create: stored - idle }))
  const full = await watched(server, () => clients({ stream: streaming }))
  const row = (measure: string, unit: string, ours: number, value: number, bound?: Row['bound']): Row => ({
    ...{ measure, unit, ours, against: { name: `${idle.toLocaleString('en-US')} stored`, value } },
    ...(bound === undefined ? {} : { bound }),
  })
  const at = `1,000 streaming, ${stored.toLocaleString('en-US')} stored`
  return [
    row(`part late p50, ${at}`, 'ms', full.outcome.lateP50, few.outcome.lateP50),
    row(`part late p99, ${at}`, 'ms', full.outcome.lateP99, few.outcome.lateP99, { of: 'ratio', atMost: 3 }),
    row(`gap of events p99, ${at}`, 'ms', full.outcome.gapP99, few.outcome.gapP99),
    row(`most memory, ${at}`, 'MB', full.maxMb, few.maxMb, { of: 'ours', atMost: 1024 }),
    { measure: 'sessions made', unit: '1/s', ours: (stored - idle) / filling.outcome.seconds },
    { measure: 'most memory while they are made', unit: 'MB', ours: filling.maxMb },
    { measure: 'growth of the process an idle live session', unit: 'bytes', ours: perActor },
  ]
}

/** Runs the clients of an order to their end. @throws {Error} unless every stream completed. */
export async function outcomeOf(order: ClientOrder): Promise<Outcome> {
  const { stdout } = await run(process.execPath, [
    join(import.meta.dirname, 'sessions/client.ts'),
    JSON.stringify(order),
  ])
  const outcome: Outcome = JSON.parse(stdout)
  const { stream = 0 } = order
  if (outcome.completed !== stream) throw new Error(`${outcome.completed} of ${stream} streams completed`)
  return outcome
}

/** Returns the results of the clients, and the most memory that the server used meanwhile. */
async function watched(server: Service, work: () => Promise<Outcome>): Promise<{ outcome: Outcome; maxMb: number }> {
  let maxMb = 0
  const timer = setInterval(() => {
    maxMb = Math.max(maxMb, memoryMb(server))
  }, pollMs)
  try {
    const outcome = await work()
    return { outcome, maxMb }
  } finally {
    clearInterval(timer)
  }
}

const memoryMb = ({ pid }: Service): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
