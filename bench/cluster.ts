import { LocalCluster } from '../scripts/cluster/local-cluster.ts'
import { startMongod } from '../scripts/services/mongod.ts'
import type { Service } from '../scripts/services/service.ts'
import { measureTakeovers } from './cluster/takeovers.ts'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'
import type { Measured } from './turns/load.ts'
import { load, middle, modelEnv, repeatedCalls, startScript, type Target } from './turns.ts'

const rounds = sized(3, 1)
/**
 * Warm-up time per node. Each of three nodes gets a third of the turns, so V8 takes three times as long to compile its
 * code.
 */
const warmUpSeconds = sized(6, 0.1)
const sessions = sized(64, 4)
const kills = sized(5, 1)

/**
 * Compares one node with three on the same machine, and a turn served by the node that owns its session with a
 * forwarded one. Also measures how long the sessions of a killed node are unavailable. The nodes, MongoDB and the
 * clients share two cores, so the figures show what a cluster costs, not what more machines would add.
 */
export async function benchCluster({ seconds }: { readonly seconds: number }): Promise<readonly Row[]> {
  const mongod = await startMongod()
  const model = await startScript('floor/model')
  try {
    const rows = await compareSizes(mongod, model, seconds)
    return [...rows, await repeatedCalls(model.url), ...(await takeovers(mongod, model))]
  } finally {
    await model.stop()
    await mongod.stop()
  }
}

async function compareSizes(mongod: Service, model: Service, seconds: number): Promise<readonly Row[]> {
  const [one, three] = [await startCluster(mongod, model, 1), await startCluster(mongod, model, 3)]
  try {
    const single = targetOf(one)
    const own = targetOf(three)
    const any: Target = { ...own, route: 'any' }
    const many = await inTurn([single, own, any], sessions, seconds)
    const local: Target = { ...own, nodes: own.nodes.slice(0, 2) }
    const few = await inTurn([local, { ...local, route: 'next' }], 1, Math.min(seconds, 4))
    return [...sizeRows(many), ...forwardRows(few)]
  } finally {
    await one.stop()
    await three.stop()
  }
}

const startCluster = (mongod: Service, model: Service, count: number): Promise<LocalCluster> =>
  LocalCluster.start(count, { mongodbUrl: mongod.url, env: () => modelEnv(model) })

const targetOf = ({ nodes, credentials }: LocalCluster): Target => ({
  target: 'ours',
  nodes: nodes.map(({ url, pid }) => ({ url, pid })),
  key: credentials.secretKey,
})

/** Measures each target once per round, after a warm-up. The order is reversed every other round. */
async function inTurn(targets: readonly Target[], workers: number, seconds: number): Promise<Measured[][]> {
  const results = targets.map((): Measured[] => [])
  for (const target of targets) await load(target, workers, warmUpSeconds * target.nodes.length)
  for (let round = 0; round < rounds; round++) {
    const order = [...targets.keys()]
    for (const at of round % 2 === 0 ? order : order.toReversed()) {
      const target = targets[at]
      if (target !== undefined) results[at]?.push(await load(target, workers, seconds))
    }
  }
  return results
}

function sizeRows([single = [], own = [], any = []]: Measured[][]): readonly Row[] {
  const row = (what: string, unit: string, ours: Measured[], field: keyof Measured, bound?: Row['bound']): Row => ({
    measure: `${what}, ${sessions} sessions`,
    unit,
    ours: middle(ours, field),
    against: { name: '1 node', value: middle(single, field) },
    ...(bound === undefined ? {} : { bound }),
  })
  return [
    row('turns on 3 nodes', '1/s', own, 'turnsPerSecond', { of: 'ratio', atLeast: 0.95 }),
    row('turns on 3 nodes, each to another', '1/s', any, 'turnsPerSecond'),
    row('turn p50 on 3 nodes', 'ms', own, 'p50'),
    row('turn p99 on 3 nodes', 'ms', own, 'p99'),
    row('CPU a turn, 3 nodes together', 'ms', own, 'cpuPerTurn', { of: 'ratio', atMost: 1.3 }),
    row('CPU a turn, each to another node', 'ms', any, 'cpuPerTurn'),
    row('memory of 3 nodes together', 'MB', own, 'rssMb'),
  ]
}

function forwardRows([local = [], forwarded = []]: Measured[][]): readonly Row[] {
  const row = (what: string, field: keyof Measured): Row => ({
    measure: `forwarded turn ${what}, 1 session`,
    unit: 'ms',
    ours: middle(forwarded, field),
    against: { name: 'local', value: middle(local, field) },
  })
  return [row('p50', 'p50'), row('p99', 'p99')]
}

async function takeovers(mongod: Service, model: Service): Promise<readonly Row[]> {
  const cluster = await startCluster(mongod, model, 3)
  try {
    const times = await measureTakeovers(cluster, kills)
    return [
      { measure: `takeover p50, ${kills} kills`, unit: 'ms', ours: median(times), bound: { of: 'ours', atMost: 3000 } },
      { measure: `takeover max, ${kills} kills`, unit: 'ms', ours: Math.max(...times) },
    ]
  } finally {
    await cluster.stop()
  }
}
