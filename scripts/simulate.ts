import { readArguments, refuseCommandLine, wholeOption } from '#src/start/command-line.ts'
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
 * `npm run simulate -- --seeds 500`: runs this many seeds (default 2,000), a fifth of them of runs, the others of
 * sessions, and every seed that has ever failed; prints the trace of the first that breaks a promise. `--scenario runs`
 * or `sessions` limits it to one. `--compaction`: deltas of ended turns are merged, and processes die in the middle of
 * that. `--nodes 3` runs several processes with leases. `--seed K` starts at K, with one seed (of sessions) unless
 * given otherwise; `--trace` prints every trace. `--planted`: counts the seeds until each planted defect is found;
 * `--planted NAME` for one of them.
 */
const planted = { ...defects, ...runDefects }
const usage = [
  'usage: npm run simulate -- [--seeds 2000] [--seed N] [--scenario sessions|runs] [--nodes 1] [--compaction] [--trace]',
  '       npm run simulate -- --planted [DEFECT …] [--seeds 3000] [--seed N]',
  '',
  'Runs the runtime in a simulated world of crashes and lost responses. Exits with 1 if a seed breaks a promise.',
  '--seed N runs that seed, or --seeds from it on; --planted counts the seeds until each planted defect is found.',
  `Defects: ${Object.keys(planted)
    .map((name) => `'${name}'`)
    .join(', ')}`,
].join('\n')
const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
const { values: given, positionals } = readArguments({
  usage,
  options: { seeds: text, seed: text, scenario: text, nodes: text, compaction: flag, trace: flag, planted: flag },
})
const number = (name: 'seeds' | 'seed' | 'nodes'): number | undefined =>
  given[name] === undefined ? undefined : wholeOption(usage, name, given[name])

const seeds = number('seeds')
const seed = number('seed')
const nodes = number('nodes') ?? 1
const { compaction = false } = given
const first = seed ?? 1
const unknown = positionals.filter((name) => given.planted !== true || !Object.hasOwn(planted, name))
if (unknown.length > 0)
  refuseCommandLine(
    usage,
    given.planted ? `There is no defect ${unknown.join(', ')}.` : `Unexpected argument '${unknown[0]}'.`,
  )
const startedAt = performance.now()
const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1)

const allScenarios: readonly Scenario[] = ['sessions', 'runs']
const scenarios = allScenarios.filter((each) => given.scenario === undefined || each === given.scenario)
if (scenarios.length === 0) refuseCommandLine(usage, '--scenario must be sessions or runs')
const failedOf: Readonly<Record<Scenario, readonly number[]>> =
  nodes > 1
    ? { sessions: failedClusterSeeds, runs: failedRunClusterSeeds }
    : { sessions: failedSeeds, runs: failedRunSeeds }

/** Returns the seeds of a scenario to run. */
const listFor = (scenario: Scenario): readonly number[] => {
  if (seeds === undefined && seed !== undefined) return scenario === scenarios[0] ? [first] : []
  const all = seeds ?? 2000
  const count = scenarios.length === 1 ? all : shareOf(scenario, all)
  const list = Array.from({ length: count }, (_, index) => first + index)
  if (seed !== undefined) return list
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
      if (given.trace === true || (violations.length > 0 && totals.failed === 0)) console.log(trace.join('\n'))
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
  for (const [name, defect] of Object.entries(planted)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    const found = await findingSeed(defect, first, seeds ?? 3000)
    console.log(`${name}: ${found === null ? 'NOT FOUND' : `seed ${found.seed}, ${found.violation}`} (${seconds()} s)`)
    if (found === null) process.exitCode = 1
  }
}

await (given.planted === true ? runPlanted() : runSeeds())
