import { randomBytes } from 'node:crypto'
import { LocalCluster } from '#scripts/cluster/local-cluster.ts'
import { startMongod } from '#scripts/services/mongod.ts'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { modelEnv, startScript } from '../turns.ts'
import { benchRamp } from './ramp.ts'
import { type Arm, type Cost, costsOf } from './stream-cost.ts'
import { type Peer, rowsBeside, startPeers } from './stream-peers.ts'

const tokens = sized(640, 40)
/** Time in ms between two tokens: 80 a second. */
const tokenEveryMs = 12.5
const fewAtOnce = sized(64, 4)
const manyAtOnce = sized(1_000, 8)

/** Processes of ours that answer, and the key of their clients. */
interface Served extends Pick<Arm, 'nodes' | 'key'> {
  readonly store: string
}

/**
 * Compares a session's turn with the gateway's own stream of the same answer, 640 tokens at 80 a second, on SQLite and
 * on MongoDB with 64 at once; with `--long` also with 1,000 at once, and on three nodes. On SQLite also with the same
 * answers of LangGraph's server and of a program on Restate, where npm installs them, and how many streams one core
 * carries.
 */
export async function benchStreams({ long }: { readonly long: boolean }): Promise<readonly Row[]> {
  const services: Pick<Service, 'stop'>[] = []
  const keep = async <T extends Pick<Service, 'stop'>>(starting: Promise<T>): Promise<T> => {
    const service = await starting
    services.unshift(service)
    return service
  }
  try {
    const model = await keep(slowModel())
    const mongod = await keep(startMongod())
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const env = { BOOTSTRAP_SECRET_KEY: key, ...modelEnv(model) }
    const sqlite = await keep(startServer(env))
    const others = { model, atOnce: fewAtOnce }
    const peers = await startPeers(['langgraph', 'restate'], others, (service) => services.unshift(service))
    const rows = [...(await compare({ store: 'SQLite', nodes: [sqlite], key }, fewAtOnce, peers))]
    if (long) rows.push(...(await compare({ store: 'SQLite', nodes: [sqlite], key }, manyAtOnce)))
    await sqlite.stop()
    rows.push(...(await benchRamp(await keep(slowModel()), key)))
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

const slowModel = (): Promise<Service> => startScript('sessions/slow-model', [String(tokenEveryMs), String(tokens)])

async function compare(served: Served, atOnce: number, peers: readonly Peer[] = []): Promise<readonly Row[]> {
  const arms = (['chat', 'turn'] as const).map((api): Arm => ({ ...served, api }))
  const [chats = [], turns = [], ...others] = await costsOf([...arms, ...peers.map(({ arm }) => arm)], atOnce)
  const where = `${served.store}, ${atOnce} at once`
  return [
    ...rowsOf(served, atOnce, { chats, turns }),
    ...peers.flatMap(({ name }, at) => rowsBeside(name, turns, others[at] ?? [], where)),
  ]
}

function rowsOf(
  { store }: Served,
  atOnce: number,
  costs: Readonly<Record<'chats' | 'turns', readonly Cost[]>>,
): readonly Row[] {
  const few = atOnce !== manyAtOnce
  const row = (what: string, unit: string, value: (cost: Cost) => number, bound?: Row['bound']): Row => ({
    measure: `${what}, ${store}, ${atOnce} at once`,
    unit,
    ours: median(costs.turns.map(value)),
    against: { name: 'gateway', value: median(costs.chats.map(value)) },
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
