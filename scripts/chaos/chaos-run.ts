import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChaosWorld, isUp, openChaosWorld } from './chaos-world.ts'
import { collect } from './collect.ts'
import { type DisturbanceKind, planOf } from './disturbance-plan.ts'
import { DisturbedPeriods } from './disturbed-periods.ts'
import { Disturber } from './disturber.ts'
import { Load } from './load.ts'
import type { ClientParts } from './node-client.ts'
import { Operator } from './operator.ts'
import { judgeFigures, judgeInterrupted, type Outcome } from './report.ts'
import { compareRows } from './row-check.ts'
import { Takeovers } from './takeovers.ts'
import { judge } from './verdict.ts'

/** Options of a run. */
export interface ChaosOptions {
  readonly seed: number
  readonly nodes: number
  /** Members of MongoDB's replica set. */
  readonly replicas: number
  /** Time in ms for which the cluster is disturbed. */
  readonly ms: number
  /** All kinds when omitted. */
  readonly kinds?: readonly DisturbanceKind[]
  readonly say: (line: string) => void
}

/**
 * Time in ms after the last disturbance within which all started work has to end; later requests and reads get the same
 * time again.
 */
const healingMs = 120_000

/** Starts a cluster, disturbs it under load, lets it recover, and checks the result. */
export const runChaos = async (options: ChaosOptions): Promise<Outcome> => {
  const world = await openChaosWorld(options.nodes, options.replicas)
  try {
    return await runIn(world, options)
  } finally {
    await world.stop()
  }
}

const runIn = async (world: ChaosWorld, { seed, nodes, ms, kinds, say }: ChaosOptions): Promise<Outcome> => {
  const startedAt = performance.now()
  const stamped = (line: string) => say(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  let deadline = Number.POSITIVE_INFINITY
  const parts: ClientParts = {
    urls: () => world.cluster.urls,
    secretKey: world.cluster.credentials.secretKey,
    counts: { requests: 0, unavailable: 0, silent: 0, broken: 0 },
    deadline: () => deadline,
  }
  const load = new Load({ clients: parts, seed, toolUrl: world.tool.url, say: stamped })
  // a load balancer skips nodes that do not answer
  const urls = () => world.cluster.nodes.filter(isUp).map(({ url }) => url)
  const spans = new DisturbedPeriods()
  const takeovers = new Takeovers({ ...parts, urls }, { report: load.report, say: stamped, spans })
  await takeovers.prepare()
  const disturber = new Disturber({ world, takeovers, spans, seed, say: stamped })
  const loaded = load.run()
  await disturber.run(planOf(seed, ms, kinds))
  stamped('all is healed')
  deadline = performance.now() + healingMs
  const operator = new Operator(parts, stamped)
  operator.start()
  load.stop()
  await loaded
  deadline = performance.now() + healingMs
  const visits = [...load.visits, ...takeovers.visits]
  await load.finish(visits)
  await operator.stop()
  stamped('all is quiet')
  await killAfterTheLastRow(world, stamped)
  deadline = performance.now() + healingMs
  const evidence = await collect(parts, load, visits, world.tool.calls)
  disturber.isWatching = false
  const { done } = disturber
  const figures = judgeFigures(done.kill, takeovers.timesMs)
  const rows = await compareRows(world.cluster.mongodbUrl)
  const cut = judgeInterrupted(done, evidence)
  const found = [...load.problems, ...disturber.problems, ...operator.problems, ...judge(evidence)]
  const problems = [...found, ...figures, ...cut, ...rows.problems]
  if (problems.length > 0) stamped(`what it printed and what was seen: ${keep(world, seed, evidence)}`)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const { counts } = parts
  const { restartsMs, calmRestartsMs } = disturber
  return {
    ...{ seed, nodes, seconds, done, takeoversMs: takeovers.timesMs, calmTakeoversMs: takeovers.calmMs },
    ...{ restartsMs, calmRestartsMs, rows: rows.compared },
    ...{ counts, evidence, problems },
  }
}

/**
 * Time in ms before mongod is killed. Rows are batched for 50 ms, and mongod writes its journal every 100 ms, so that
 * writes acknowledged without the journal are lost.
 */
const afterTheLastMs = 40
const awayMs = 300

/** Kills mongod after the last request to any session, so that lost rows are not written again. */
const killAfterTheLastRow = async ({ mongod }: ChaosWorld, say: (line: string) => void): Promise<void> => {
  await wait(afterTheLastMs)
  await mongod.kill9()
  say(`mongod killed ${afterTheLastMs} ms after the last answer`)
  await wait(awayMs)
  await mongod.restart()
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Stores logs and evidence of a run that broke a promise. @returns the folder. */
const keep = ({ cluster }: ChaosWorld, seed: number, evidence: object): string => {
  const folder = join(tmpdir(), `troupe-chaos-${seed}`)
  mkdirSync(folder, { recursive: true })
  for (const node of cluster.nodes) writeFileSync(join(folder, `${node.name}.log`), node.log())
  writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence, null, 1))
  return folder
}
