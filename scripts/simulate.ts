import { defects } from '../test/simulation/defects.ts'
import {
  failedClusterSeeds,
  failedRunClusterSeeds,
  failedRunSeeds,
  failedSeeds,
} from '../test/simulation/failed-seeds.ts'
import { findingSeed } from '../test/simulation/finding-seed.ts'
import { runDefects } from '../test/simulation/runs/run-defects.ts'
import { type Scenario, shareOf, simulate } from '../test/simulation/simulation.ts'

/**
 * The deterministic simulation (test/simulation).
 *
 * `npm run simulate -- --seeds 500`: so many seeds (2,000 when not said), a fifth of them of runs, the others of sessions,
 * and every one that ever failed; prints the trace of the first that breaks a promise. `--scenario runs` or `sessions`: of these alone.
 * `--compaction`: deltas of ended turns are put together, and processes die in the middle of that.
 * `--nodes 3` runs several processes with leases. `--seed K` starts at K, with one seed (of sessions) unless said
 * otherwise; `--trace` prints every trace.
 * `--planted`: how many seeds it takes to find each planted defect; `--planted NAME` for one of them.
 */
const after = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : (process.argv[at + 1] ?? '')
}
const number = (name: string): number | undefined => {
  const text = after(name)
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}

const seeds = number('seeds')
const nodes = number('nodes') ?? 1
const compaction = process.argv.includes('--compaction')
const first = number('seed') ?? 1
const startedAt = performance.now()
const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1)

const scenarioGiven = after('scenario')
const failedOf: Readonly<Record<Scenario, readonly number[]>> =
  nodes > 1
    ? { sessions: failedClusterSeeds, runs: failedRunClusterSeeds }
    : { sessions: failedSeeds, runs: failedRunSeeds }

const scenarios: readonly Scenario[] =
  scenarioGiven === 'runs' || scenarioGiven === 'sessions' ? [scenarioGiven] : ['sessions', 'runs']

/** Which seeds of a scenario are to run. */
const listFor = (scenario: Scenario): readonly number[] => {
  if (seeds === undefined && number('seed') !== undefined) return scenario === scenarios[0] ? [first] : []
  const all = seeds ?? 2000
  const count = scenarios.length === 1 ? all : shareOf(scenario, all)
  const list = Array.from({ length: count }, (_, index) => first + index)
  if (number('seed') !== undefined) return list
  return [...list, ...failedOf[scenario].filter((seed) => seed >= first + count)]
}

const runSeeds = async (): Promise<void> => {
  const totals = { seeds: 0, commits: 0, processes: 0, failed: 0 }
  for (const scenario of scenarios) {
    for (const seed of listFor(scenario)) {
      const { violations, trace, commits, processes } = await simulate(seed, { nodes, scenario, compaction })
      totals.seeds++
      totals.commits += commits
      totals.processes += processes
      if (process.argv.includes('--trace') || (violations.length > 0 && totals.failed === 0))
        console.log(trace.join('\n'))
      if (violations.length === 0) continue
      totals.failed++
      console.log(`seed ${seed} of ${scenario} FAILED: ${violations.join('\n  ')}`)
    }
  }
  const { commits, processes, failed } = totals
  console.log(`${totals.seeds} seeds, ${failed} failed, ${commits} commits, ${processes} processes, ${seconds()} s`)
  process.exitCode = failed > 0 ? 1 : 0
}

const runPlanted = async (): Promise<void> => {
  const wanted = after('planted')
  for (const [name, defect] of Object.entries({ ...defects, ...runDefects })) {
    if (wanted !== '' && !wanted?.startsWith('--') && wanted !== name) continue
    const found = await findingSeed(defect, first, seeds ?? 3000)
    console.log(`${name}: ${found === null ? 'NOT FOUND' : `seed ${found.seed}, ${found.violation}`} (${seconds()} s)`)
    if (found === null) process.exitCode = 1
  }
}

await (process.argv.includes('--planted') ? runPlanted() : runSeeds())
