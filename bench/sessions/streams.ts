import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LocalCluster } from '#scripts/cluster/local-cluster.ts'
import { startMongod } from '#scripts/services/mongod.ts'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { sized } from '../extent.ts'
import { cpuMsOf } from '../recall/process-cpu.ts'
import { median, type Row } from '../row.ts'
import { outcomeOf } from '../sessions.ts'
import { modelEnv, startScript } from '../turns.ts'
import type { ClientOrder, Outcome } from './client.ts'

const tokens = sized(640, 40)
/** Time in ms between two tokens: 80 a second. */
const tokenEveryMs = 12.5
const rounds = sized(3, 1)
const fewAtOnce = sized(64, 4)
const manyAtOnce = sized(1_000, 8)
const idleMs = sized(1_500, 100)
/** Time in ms after the last answer within which rows are written and streams compacted. */
const settleMs = sized(3_000, 100)

/** Processes that answer, and the key of their clients. */
interface Served {
  readonly store: string
  readonly nodes: readonly Pick<Service, 'url' | 'pid'>[]
  readonly key: string
}

/** What one answer cost, and how old its deltas were when they arrived. */
interface Cost {
  readonly cpuMs: number
  readonly commits: number
  readonly writtenKb: number
  readonly outcome: Outcome
}

/**
 * Compares a session's turn with the gateway's own stream of the same answer, 640 tokens at 80 a second, on SQLite and
 * on MongoDB with 64 at once; with `--long` also with 1,000 at once, and on three nodes.
 */
export async function benchStreams({ long }: { readonly long: boolean }): Promise<readonly Row[]> {
  const services: Pick<Service, 'stop'>[] = []
  const keep = async <T extends Pick<Service, 'stop'>>(starting: Promise<T>): Promise<T> => {
    const service = await starting
    services.unshift(service)
    return service
  }
  try {
    const model = await keep(startScript('sessions/slow-model', [String(tokenEveryMs), String(tokens)]))
    const mongod = await keep(startMongod())
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const env = { BOOTSTRAP_SECRET_KEY: key, ...modelEnv(model) }
    const sqlite = await keep(startServer(env))
    const rows = [...(await compare({ store: 'SQLite', nodes: [sqlite], key }, fewAtOnce))]
    if (long) rows.push(...(await compare({ store: 'SQLite', nodes: [sqlite], key }, manyAtOnce)))
    await sqlite.stop()
    const mongo = await keep(startServer({ ...env, MONGODB_URL: `${mongod.url}troupe` }))
    rows.push(...(await compare({ store: 'MongoDB', nodes: [mongo], key }, fewAtOnce)))
    if (!long) return rows
    rows.push(...(await compare({ store: 'MongoDB', nodes: [mongo], key }, manyAtOnce)))
    const cluster = await keep(LocalCluster.start(3, { mongodbUrl: mongod.url, env: () => env }))
    return [...rows, ...(await compare({ store: 'three nodes', nodes: cluster.nodes, key }, fewAtOnce))]
  } finally {
    for (const service of services) await service.stop()
  }
}

/** One warm-up of both, then rounds in alternating order. */
async function compare(served: Served, atOnce: number): Promise<readonly Row[]> {
  const costs: Readonly<Record<'chat' | 'stream', Cost[]>> = { chat: [], stream: [] }
  for (let round = -1; round < rounds; round++) {
    for (const kind of round % 2 === 0 ? (['chat', 'stream'] as const) : (['stream', 'chat'] as const)) {
      const cost = await costOf(served, kind, round < 0 ? Math.min(4, atOnce) : atOnce)
      if (round >= 0) costs[kind].push(cost)
    }
  }
  return rowsOf(served, atOnce, costs)
}

async function costOf({ nodes, key }: Served, kind: 'chat' | 'stream', atOnce: number): Promise<Cost> {
  const used = () => nodes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  const idleFrom = used()
  await wait(idleMs)
  const idle = (used() - idleFrom) / idleMs
  const [cpu, commits, written, startedAt] = [used(), await commitsOf(nodes), writtenBytes(nodes), performance.now()]
  const each = Math.ceil(atOnce / nodes.length)
  const orders = nodes.map(({ url }): ClientOrder => ({ url, key, [kind]: each }))
  const outcomes = await Promise.all(orders.map((order) => outcomeOf(order)))
  await wait(settleMs)
  const turns = each * nodes.length
  return {
    cpuMs: (used() - cpu - idle * (performance.now() - startedAt)) / turns,
    commits: ((await commitsOf(nodes)) - commits) / turns,
    writtenKb: (writtenBytes(nodes) - written) / turns / 1024,
    outcome: {
      seconds: Math.max(...outcomes.map(({ seconds }) => seconds)),
      completed: turns,
      lateP50: median(outcomes.map(({ lateP50 }) => lateP50)),
      lateP99: Math.max(...outcomes.map(({ lateP99 }) => lateP99)),
      gapP99: Math.max(...outcomes.map(({ gapP99 }) => gapP99)),
      firstP50: median(outcomes.map(({ firstP50 }) => firstP50)),
    },
  }
}

function rowsOf({ store }: Served, atOnce: number, costs: Readonly<Record<'chat' | 'stream', Cost[]>>): readonly Row[] {
  const few = atOnce !== manyAtOnce
  const row = (what: string, unit: string, value: (cost: Cost) => number, bound?: Row['bound']): Row => ({
    measure: `${what}, ${store}, ${atOnce} at once`,
    unit,
    ours: median(costs.stream.map(value)),
    against: { name: 'gateway', value: median(costs.chat.map(value)) },
    ...(bound !== undefined && { bound }),
  })
  const cpu = few && store !== 'three nodes' ? ({ of: 'ratio', atMost: 1.4 } as const) : undefined
  return [
    // those of the turn, and one a second
    row('commits a turn', '', ({ commits }) => commits, { of: 'ours', atMost: 12 }),
    row('CPU a turn', 'ms', ({ cpuMs }) => cpuMs, cpu),
    row('CPU a delta', 'µs', ({ cpuMs }) => (cpuMs * 1000) / tokens),
    row('first delta p50', 'ms', ({ outcome }) => outcome.firstP50),
    row('delta late p50', 'ms', ({ outcome }) => outcome.lateP50, few ? { of: 'ours', atMost: 2 } : undefined),
    row('delta late p99', 'ms', ({ outcome }) => outcome.lateP99, { of: 'ours', atMost: 100 }),
    ...(store === 'SQLite' ? [row('written to disk a turn', 'KB', ({ writtenKb }) => writtenKb)] : []),
  ]
}

async function commitsOf(nodes: Served['nodes']): Promise<number> {
  const counts = await Promise.all(
    nodes.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(/^troupe_commits_total (\d+)/m.exec(text)?.[1])
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Bytes that the processes have caused to be written to disk; NaN without /proc. */
function writtenBytes(nodes: Served['nodes']): number {
  try {
    return nodes.reduce((sum, { pid }) => {
      const [, bytes] = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8')) ?? []
      return sum + Number(bytes)
    }, 0)
  } catch {
    return Number.NaN
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
